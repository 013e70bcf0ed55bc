"""--extract and --split: parts that, put together, compute what the whole does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from onnx import TensorProto
from onnx.helper import make_tensor_value_info

from graphfix import UsageError, edits
from graphfix.cli import main
from graphfix.edits import Extract, Split
from tests.edits.small_models import (
    BRANCHES,
    CALLS,
    TOWER,
    checked,
    parsed,
    ran,
    samples,
    with_external_data,
)

FRONT, BACK = Path("front.onnx"), Path("back.onnx")


def test_a_part_between_inner_tensors() -> None:
    before = parsed(TOWER)
    found = edits.extract(before, ["p"], ["y"])
    after = checked(found)
    assert [node.name for node in after.graph.node] == ["plus", "act"]
    assert [tensor.name for tensor in after.graph.initializer] == ["b"]
    x = samples(2, 4)
    p = ran(checked(edits.add_output(before, "p")), x=x)["p"]
    assert (ran(after, p=p)["y"] == ran(before, x=x)["y"]).all()
    assert found.steps[0].said == ("2 of 4 nodes, from p to y",)


def test_a_part_from_an_input_on() -> None:
    after = checked(edits.extract(parsed(TOWER), ["x"], ["s"]))
    assert [node.name for node in after.graph.node] == ["dot", "plus"]
    assert [info.name for info in after.graph.output] == ["s"]


def test_what_subgraphs_capture_comes_along() -> None:
    before = parsed(BRANCHES)
    after = checked(edits.extract(before, ["h", "c", "x"], ["y"]))
    assert [node.name for node in after.graph.node] == ["choose"]
    assert [tensor.name for tensor in after.graph.initializer] == ["k"]
    x, c = samples(2, 4), np.array(True)
    assert (ran(after, h=x * 2, c=c, x=x)["y"] == ran(before, x=x, c=c)["y"]).all()
    with pytest.raises(UsageError, match=r"computed from input 'x' too \(begin at h,c,x\)"):
        edits.extract(before, ["h", "c"], ["y"])


def test_functions_that_are_called_come_along() -> None:
    after = checked(edits.extract(parsed(CALLS), ["x"], ["m"]))
    assert [function.name for function in after.functions] == ["twice"]
    assert list(checked(edits.extract(parsed(CALLS), ["m"], ["y"])).functions) == []


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (Extract(("q",), ("y",)), "the model has no tensor 'q'"),
        (Extract(("w",), ("y",)), "'w' is a stored weight"),
        (Extract(("y",), ("z",)), "z is computed from input 'x' too (begin at y,x)"),
        (Extract(("p", "x"), ("y",)), "y does not depend on 'x'"),
        (Extract(("x",), ("x",)), "no node of the part computes 'x'"),
        (Extract(("p", "p"), ("y",)), "'p' is named twice"),
        (Split(("x",), FRONT, BACK), "no node computes 'x'"),
        (Split(("y",), FRONT, BACK), "'s' of the front is read after the cut too (cut at y,s)"),
        (Split(("p",), FRONT, FRONT), "both parts would go to one file"),
    ],
)
def test_refusals(edit: Extract | Split, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        edits.edit(parsed(TOWER), [edit])
    assert said in str(caught.value)
    assert str(caught.value).startswith(edit.option)


def test_two_parts_give_the_whole() -> None:
    before = parsed(TOWER)
    found = edits.split(before, ["p"], FRONT, BACK)
    assert found.exit_code == 0
    front, back = (found.parts[path].to_proto() for path in (FRONT, BACK))
    assert [node.name for node in front.graph.node] == ["dot"]
    assert [node.name for node in back.graph.node] == ["plus", "act", "neg"]
    x = samples(3, 4)
    for name, value in ran(back, **ran(front, x=x)).items():
        assert (value == ran(before, x=x)[name]).all()


def test_an_output_of_the_front_stays_there() -> None:
    found = edits.split(parsed(TOWER), ["s"], FRONT, BACK)
    assert found.exit_code == 0
    text = BRANCHES.replace("=> (float[N, 4] y)", "=> (float[N, 4] h, float[N, 4] y)")
    found = edits.split(parsed(text), ["h"], FRONT, BACK)
    assert found.exit_code == 0
    assert [i.name for i in found.parts[FRONT].to_proto().graph.output] == ["h"]
    assert [i.name for i in found.parts[BACK].to_proto().graph.input] == ["h", "x", "c"]


def test_nothing_comes_after_a_split() -> None:
    with pytest.raises(UsageError, match="--rename: comes after the model was split"):
        edits.edit(parsed(TOWER), [Split(("p",), FRONT, BACK), edits.Rename("x", "a")])


def test_parts_of_a_model_with_external_data(tmp_path: Path) -> None:
    path = with_external_data(parsed(TOWER), tmp_path)
    front, back = tmp_path / "f.onnx", tmp_path / "b.onnx"
    assert main(["edit", str(path), "--split", f"p={front},{back}"]) == 0
    assert {found.name for found in tmp_path.iterdir()} == {
        *("big.onnx", "weights.bin", "f.onnx", "b.onnx")
    }
    taken = tmp_path / "part.onnx"
    assert main(["edit", str(path), "--extract", "p:y", "-o", str(taken)]) == 0
    assert taken.stat().st_size < 1000


@pytest.mark.parametrize("sizes", [(3, 4), (2, 4, 1), ()])
def test_sizes_that_a_file_declares_and_does_not_compute_are_not_those_of_parts(
    sizes: tuple[int, ...],
) -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]> g (float[2, 4] x) => (float[2, 4] y)
{ a = Abs (x) b = Neg (a) c = Exp (b) y = Sqrt (c) }"""
    model = parsed(text)
    for name in ("a", "b", "c"):
        model.graph.value_info.append(make_tensor_value_info(name, TensorProto.FLOAT, sizes))
    x = samples(2, 4)
    for cut in ("a", "b", "c"):
        front, back = (
            part.to_proto() for part in edits.split(model, [cut], FRONT, BACK).parts.values()
        )
        inner = ran(front, x=x)
        assert_allclose(ran(back, **inner)["y"], np.sqrt(np.exp(-np.abs(x))), rtol=1e-6)
    kept = checked(edits.extract(model, ["a"], ["y"])).graph
    assert [dim.dim_value for dim in kept.input[0].type.tensor_type.shape.dim] == [2, 4]
    assert list(kept.value_info) == []
