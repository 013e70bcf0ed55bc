"""Outputs kept, dropped, added; inputs dropped; other orders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto

from graphfix import UsageError, edits
from graphfix.edits import (
    AddOutput,
    DropInput,
    DropOutput,
    KeepOutputs,
    ReorderInputs,
    ReorderOutputs,
)
from tests.edits.small_models import BRANCHES, HEAD, TOWER, checked, parsed, ran, samples

HEADS = (
    HEAD
    + """
g (float[N, 4] x, float[4] scale, int64 unused) => (float[N, 4] a, float[N, 4] b, float[N, 4] c)
<float[4] w = {1, 2, 3, 4}>
{
  [first] a = Mul (x, scale)
  [second] t = Mul (x, w)
  [third] b = Neg (t)
  [fourth] c = Abs (t)
}
"""
)


def ends(model: ModelProto) -> tuple[list[str], list[str]]:
    return [i.name for i in model.graph.input], [i.name for i in model.graph.output]


def test_what_only_other_outputs_need_is_gone() -> None:
    found = edits.keep_outputs(parsed(HEADS), ["a"])
    after = checked(found)
    assert ends(after) == (["x", "scale", "unused"], ["a"])
    assert [node.name for node in after.graph.node] == ["first"]
    assert list(after.graph.initializer) == []
    assert found.steps[0].said == (
        "the outputs are a",
        "nodes that only others needed are gone: 3",
    )
    after = checked(edits.keep_outputs(parsed(HEADS), ["c", "b"]))
    assert ends(after)[1] == ["c", "b"]


def test_an_output_is_dropped_and_the_idle_input_reported() -> None:
    found = edits.drop_output(parsed(HEADS), "a")
    assert ends(checked(found))[1] == ["b", "c"]
    assert found.steps[0].said[-1] == ("nothing reads scale any more; --drop-input scale drops it")
    assert ends(checked(edits.drop_output(parsed(HEADS), "[bc]")))[1] == ["a"]


def test_inner_tensors_become_outputs() -> None:
    before = parsed(HEADS)
    after = checked(edits.add_output(before, "t"))
    assert ends(after)[1] == ["a", "b", "c", "t"]
    x = samples(2, 4)
    feed = {"x": x, "scale": x[0], "unused": np.array(1)}
    assert (ran(after, **feed)["t"] == x * np.array([1, 2, 3, 4], np.float32)).all()
    after = checked(edits.add_output(parsed(TOWER), "op:Add"))
    assert ends(after)[1] == ["y", "z", "s"]


def test_orders() -> None:
    after = checked(edits.reorder_outputs(parsed(HEADS), ["c", "a"]))
    assert ends(after)[1] == ["c", "a", "b"]
    after = checked(edits.reorder_inputs(parsed(HEADS), ["unused", "scale"]))
    assert ends(after)[0] == ["unused", "scale", "x"]


def test_an_input_becomes_a_stored_value(tmp_path: Path) -> None:
    before = parsed(HEADS)
    x, scale = samples(3, 4), np.array([1, -2, 0.5, 3], np.float32)
    expected = ran(before, x=x, scale=scale, unused=np.array(1))["a"]
    np.save(tmp_path / "scale.npy", scale)
    for value in (scale, f"@{tmp_path / 'scale.npy'}", "1,-2,0.5,3"):
        found = edits.drop_input(before, "scale", value)
        after = checked(found)
        assert ends(after)[0] == ["x", "unused"]
        assert (ran(after, x=x, unused=np.array(1))["a"] == expected).all()
    assert found.steps[0].said == ("input 'scale' is float32[4], stored",)
    after = checked(edits.drop_input(before, "scale", "2"))
    assert (ran(after, x=x, unused=np.array(1))["a"] == 2 * x).all()


def test_an_input_that_nothing_reads_needs_no_value() -> None:
    assert ends(checked(edits.drop_input(parsed(HEADS), "unused")))[0] == ["x", "scale"]


def test_an_input_is_what_is_stored_for_it() -> None:
    before = parsed(
        HEAD
        + "g (float[N, 2] x, float[2] w) => (float[N, 2] y) <float[2] w = {3, -2}> "
        + "{ y = Mul (x, w) }"
    )
    found = edits.drop_input(before, "w")
    after = checked(found)
    assert ends(after)[0] == ["x"]
    assert found.steps[0].said == ("input 'w' is what is stored for it",)
    x = samples(3, 2)
    assert (ran(after, x=x)["y"] == x * np.array([3, -2], np.float32)).all()


def test_an_input_that_a_body_reads() -> None:
    before = parsed(BRANCHES)
    after = checked(edits.drop_input(before, "c", "true"))
    x = samples(2, 4)
    assert (ran(after, x=x)["y"] == ran(before, x=x, c=np.array(True))["y"]).all()


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (KeepOutputs(("q",)), "the model has no output 'q' (it has: a, b, c)"),
        (DropOutput("q"), "the model has no output 'q' (it has: a, b, c)"),
        (DropOutput("*"), "no output would be left"),
        (AddOutput("a"), "'a' is an output already"),
        (AddOutput("w"), "no node computes 'w'"),
        (AddOutput("tt"), "the model has no tensor 'tt'"),
        (DropInput("scale"), "input 'scale' is read (give it a value: scale=0)"),
        (DropInput("scale", "1,2"), "the value has shape [2], the model has [4]"),
        (DropInput("scale", "one"), "'one' is no value"),
        (DropInput("scale", "@none.npy"), "none.npy: No such file or directory"),
        (DropInput("x", "1"), "the value has shape [1], the model has [?, 4]"),
        (DropInput("q", "1"), "the model has no input 'q' (it has: x, scale, unused)"),
        (ReorderInputs(("a",)), "the model has no input 'a' (it has: x, scale, unused)"),
        (ReorderOutputs(("x",)), "the model has no output 'x' (it has: a, b, c)"),
    ],
)
def test_refusals(edit: edits.Edit, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        edits.edit(parsed(HEADS), [edit])
    assert said in str(caught.value)
    assert str(caught.value).startswith(edit.option)


def test_an_integer_holds_no_fraction() -> None:
    text = HEADS.replace("c = Abs (t)", "c = Tile (t, r)").replace("int64 unused", "int64[2] r")
    with pytest.raises(UsageError, match="int64 does not hold the value"):
        edits.drop_input(parsed(text), "r", "1.5,1")
