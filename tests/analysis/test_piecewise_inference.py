"""Tests of shape inference piece by piece, held to that of the whole."""

from __future__ import annotations

from functools import partial

import onnx
import onnx.parser
import pytest
from onnx import ModelProto, TypeProto

from graphfix.analysis import piecewise_inference
from graphfix.analysis.piecewise_inference import has_many_subgraphs, infer_in_pieces
from graphfix.analysis.shape_inference import infer_shapes

_INFER = partial(onnx.shape_inference.infer_shapes, data_prop=True)


def _ifs(count: int) -> ModelProto:
    """Return a chain of Ifs with other nodes between, one of which gives a size of its own."""
    lines = ["v0 = Identity (x)"]
    for at in range(count):
        lines.append(
            f"w{at} = If (c) <then_branch = t{at} () => (a{at}) {{ a{at} = Relu (v{at}) }},"
            f" else_branch = e{at} () => (b{at}) {{ b{at} = Neg (v{at}) }}>"
            f" v{at + 1} = Add (w{at}, k) n{at} = NonZero (v{at + 1})"
        )
    graph = " ".join(lines)
    return onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[N, 4] x, bool c) => (y)'
        f" <float[1] k = {{1.0}}> {{ {graph} y = Concat <axis = 1> (n0, n{count - 1}) }}"
    )


def _types(model: ModelProto) -> dict[str, TypeProto]:
    graph = model.graph
    found = {info.name: info.type for info in (*graph.value_info, *graph.output)}
    for node in graph.node:
        for attribute in node.attribute:
            found |= {info.name: info.type for info in attribute.g.value_info}
            found |= {info.name: info.type for info in attribute.g.output}
    return found


def test_pieces_give_what_the_whole_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(piecewise_inference, "_MANY", 8)
    monkeypatch.setattr(piecewise_inference, "_FEW", 3)
    model = _ifs(10)
    whole, pieces = _INFER(model), infer_in_pieces(model, _INFER)
    assert [node.op_type for node in pieces.graph.node] == [n.op_type for n in model.graph.node]
    one, other = _types(whole), _types(pieces)
    assert one.keys() == other.keys()
    for name, kind in one.items():
        sizes = [dim.dim_value or dim.dim_param for dim in kind.tensor_type.shape.dim]
        mine = other[name].tensor_type
        assert mine.elem_type == kind.tensor_type.elem_type, name
        assert len(mine.shape.dim) == len(sizes), name
        if not name.startswith(("n", "y")):
            assert [dim.dim_value or dim.dim_param for dim in mine.shape.dim] == sizes, name


def test_no_symbol_stands_for_sizes_of_two_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(piecewise_inference, "_MANY", 8)
    monkeypatch.setattr(piecewise_inference, "_FEW", 3)
    types = _types(infer_in_pieces(_ifs(10), _INFER))
    counts = [types[f"n{at}"].tensor_type.shape.dim[1].dim_param for at in range(10)]
    assert all(counts)
    assert len({*counts}) == 10


def test_hundreds_of_subgraphs_are_inferred_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    infer = onnx.shape_inference.infer_shapes

    def counted(model: ModelProto | bytes, **options: bool) -> ModelProto:
        found = infer(model, **options)
        sizes.append(len(found.graph.node))
        return found

    monkeypatch.setattr(onnx.shape_inference, "infer_shapes", counted)
    model = _ifs(300)
    assert has_many_subgraphs(model.SerializeToString())
    assert len(infer_shapes(model).graph.node) == len(model.graph.node)
    assert max(sizes) < 260
    sizes.clear()
    infer_shapes(_ifs(20))
    assert sizes == [62]


def test_what_strict_inference_says_of_a_piece_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(piecewise_inference, "_MANY", 8)
    monkeypatch.setattr(piecewise_inference, "_FEW", 3)
    model = _ifs(10)
    model.graph.node[-2].op_type = "Reshape"
    with pytest.raises(onnx.shape_inference.InferenceError):
        infer_in_pieces(model, partial(onnx.shape_inference.infer_shapes, strict_mode=True))
