"""--split-heads: the heads of an attention, each by nodes of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto

from graphfix import UsageError, edits
from graphfix.cli import main
from tests.edits.small_models import HEAD, checked, parsed, ran, samples

ATTENTION = (
    HEAD
    + """
a (float[N, 3, S, 4] q, float[N, 3, 4, T] k, float[N, 3, T, 2] v, float[N, 1, S, T] mask)
  => (float[N, 3, S, 2] y) <float scale = {0.5}>
{
  [keys] raw = MatMul (q, k)
  scaled = Mul (raw, scale)
  masked = Add (scaled, mask)
  [shares] w = Softmax <axis = -1> (masked)
  [values] y = MatMul (w, v)
}
"""
)
SIZES = {"q": (2, 3, 5, 4), "k": (2, 3, 4, 6), "v": (2, 3, 6, 2), "mask": (2, 1, 5, 6)}


def feed(**other: tuple[int, ...]) -> dict[str, Any]:
    sizes = {**SIZES, **other}
    return {name: samples(*size, seed=n) for n, (name, size) in enumerate(sizes.items())}


def counts(model: ModelProto) -> dict[str, int]:
    ops = [node.op_type for node in model.graph.node]
    return {op: ops.count(op) for op in sorted({*ops})}


def close(one: ModelProto, two: ModelProto, fed: dict[str, Any]) -> None:
    fed = {info.name: fed[info.name] for info in one.graph.input}
    np.testing.assert_allclose(ran(two, **fed)["y"], ran(one, **fed)["y"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["shares", "op:Softmax", "sh*"])
def test_each_head_has_nodes_of_its_own(name: str) -> None:
    model = parsed(ATTENTION)
    found = edits.split_heads(model, name)
    split = checked(found)
    assert counts(split) == {"Add": 3, "Concat": 1, "MatMul": 6, "Mul": 3, "Softmax": 3, "Split": 3}
    assert [n.name for n in split.graph.node if n.op_type == "Softmax"] == [
        f"shares/head{n}" for n in range(3)
    ]
    # The mask and the scale are of all heads.
    adds = [node for node in split.graph.node if node.op_type == "Add"]
    assert {node.input[1] for node in adds} == {"mask"}
    assert found.steps[0].said == ("Softmax 'shares': 3 heads, each by nodes of its own",)
    close(model, split, feed())


@pytest.mark.parametrize(
    ("declared", "size"),
    [
        ("float[N, 3, S, T] mask", (2, 3, 5, 6)),
        ("float[3, S, T] mask", (3, 5, 6)),
        ("float[S, T] mask", (5, 6)),
    ],
)
def test_what_is_by_head_is_split_too(declared: str, size: tuple[int, ...]) -> None:
    model = parsed(ATTENTION.replace("float[N, 1, S, T] mask", declared))
    split = checked(edits.split_heads(model, "shares"))
    assert counts(split)["Split"] == 3 + (3 in size)
    close(model, split, feed(mask=size))


def test_keys_and_values_of_all_heads() -> None:
    text = ATTENTION.replace("float[N, 3, 4, T] k", "float[N, 1, 4, T] k")
    model = parsed(text.replace("float[N, 3, T, 2] v", "float[N, 1, T, 2] v"))
    split = checked(edits.split_heads(model, "shares"))
    assert counts(split)["Split"] == 1
    close(model, split, feed(k=(2, 1, 4, 6), v=(2, 1, 6, 2)))


def test_a_bias_that_is_computed_and_read_elsewhere_stays_whole() -> None:
    text = ATTENTION.replace("(float[N, 3, S, 2] y)", "(float[N, 3, S, 2] y, float[N, 3, S, T] b)")
    text = text.replace("float[N, 1, S, T] mask", "float[N, 3, S, T] mask").replace(
        "masked = Add (scaled, mask)", "b = Neg (mask) masked = Add (scaled, b)"
    )
    split = checked(edits.split_heads(parsed(text), "shares"))
    assert counts(split) | {"Neg": 1, "Split": 4} == counts(split)


def test_heads_that_an_exporter_counts_as_what_is_left() -> None:
    text = ATTENTION.replace("float[N, 3, S, 4] q", "float[N, S, 12] long").replace(
        "[keys] raw",
        "front = Shape <end = 2> (long) four = Concat <axis = 0> (front, tail) "
        "parts = Reshape (long, four) q = Transpose <perm = [0, 2, 1, 3]> (parts) [keys] raw",
    )
    model = parsed(text.replace("<float scale", "<int64[2] tail = {-1, 4}, float scale"))
    found = edits.split_heads(model, "shares")
    split = checked(found)
    assert counts(split)["Split"] == 3
    assert found.steps[0].said[1] == "heads are as they were when the model was run: q"
    close(model, split, feed(long=(2, 5, 12)))


@pytest.mark.parametrize("kind", ["float16", "float", "double"])
@pytest.mark.parametrize("opset", [11, 13, 17, 21])
def test_types_and_opsets(kind: str, opset: int) -> None:
    text = ATTENTION.replace("<float scale = {0.5}>", "").replace("scaled = Mul (raw, scale)", "")
    text = text.replace("Add (scaled", "Add (raw").replace('"" : 17', f'"" : {opset}')
    model = onnx.parser.parse_model(text)
    for info in (*model.graph.input, *model.graph.output):
        info.type.tensor_type.elem_type = TensorProto.DataType.Value(kind.upper())
    split = checked(edits.split_heads(model, "shares"))
    assert counts(split)["Softmax"] == 3


def test_it_is_written_where_it_was() -> None:
    """What reads it comes after it, and what it reads in front."""
    text = ATTENTION.replace("=> (float[N, 3, S, 2] y)", "=> (float[N, 3, S, 2] z)").replace(
        "[values] y = MatMul (w, v)", "u = Softplus (v) [values] y = MatMul (w, u) z = Neg (y)"
    )
    split = checked(edits.split_heads(parsed(text), "shares"))
    assert [node.op_type for node in split.graph.node][-2:] == ["Concat", "Neg"]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("axis = -1", "axis = 2", "Softmax 'shares' is not over the last axis"),
        (
            "3, ",
            "1, ",
            "Softmax 'shares' is not known to have several heads, on axis 1 of 4",
        ),
        (
            "[values] y = MatMul (w, v)",
            "[other] u = Softplus (w) [values] y = MatMul (u, v)",
            "Softmax 'shares' is read by Softplus 'other'",
        ),
        ("= MatMul (w, v)", "= Mul (w, v)", "Softmax 'shares' is not read by one MatMul"),
        (
            "[keys] raw = MatMul (q, k)",
            "[keys] first = MatMul (q, k) [more] raw = Softplus (first)",
            "Softmax 'shares' does not read one MatMul",
        ),
        (
            "float[N, 3, S, 2] y)",
            "float[N, 3, S, 2] y, float[N, 3, S, T] w)",
            "Softmax 'shares' has 'w' next to it, which is read elsewhere too",
        ),
    ],
)
def test_what_is_refused(old: str, new: str, why: str) -> None:
    model = onnx.parser.parse_model(ATTENTION.replace(old, new))
    with pytest.raises(UsageError, match=f"^--split-heads shares: {why}"):
        edits.split_heads(model, "shares", verify="off")


def test_of_several_some_stay() -> None:
    text = ATTENTION.replace("2] y)", "2] y, float[N, 3, S, 2] z)").replace(
        "y = MatMul (w, v)", "y = MatMul (w, v) [last] z = Softmax (y)"
    )
    found = edits.split_heads(parsed(text), "op:Softmax")
    assert counts(checked(found))["Softmax"] == 4
    assert found.steps[0].said[1] == "stays: Softmax 'last' is not read by one MatMul"
    with pytest.raises(UsageError, match="no Softmax of the main graph is named so"):
        edits.split_heads(parsed(text), "op:Add")
    with pytest.raises(UsageError, match="the model has no node 'share'"):
        edits.split_heads(parsed(text), "share")


def test_a_wrong_split_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = onnx.helper.make_node

    def wrong(op: str, *words: Any, **attributes: Any) -> Any:
        node = real(op, *words, **attributes)
        if op == "Concat":
            node.input[:] = [*node.input][::-1]
        return node

    monkeypatch.setattr(onnx.helper, "make_node", wrong)
    assert edits.split_heads(parsed(ATTENTION), "shares").exit_code == 4


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.onnx").write_bytes(parsed(ATTENTION).SerializeToString())
    assert main(["edit", "m.onnx", "--split-heads", "op:Softmax", "-o", "heads.onnx"]) == 0
    assert counts(onnx.ModelProto.FromString(Path("heads.onnx").read_bytes()))["Softmax"] == 3
