"""A long Softmax along another axis than the last: the same bits, from rows that lie together."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest
from onnx import ModelProto

from graphfix.proving.runners.ort_engine import OrtEngine
from graphfix.proving.runners.softmax_rows import moving_one_axis
from graphfix.worker.sessions import open_session

LONG = "float[2,5,256,128]"


def parsed(node: str, kind: str = LONG, opset: int = 17) -> ModelProto:
    text = f'<ir_version: 8, opset_import: ["" : {opset}]> g ({kind} x) => ({kind} y) {{ {node} }}'
    return onnx.parser.parse_model(text)


def operators(model: ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


def drawn(kind: str = "float32", sides: tuple[int, ...] = (2, 5, 256, 128)) -> np.ndarray:
    x = np.random.default_rng(3).standard_normal(sides) * 8
    x.flat[:6] = [np.inf, -np.inf, np.nan, 0.0, -0.0, 3e4]
    return x.astype(kind)


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax"])
@pytest.mark.parametrize("axis", [0, 1, 2, -2, -4])
def test_bits_are_those_of_the_model(op: str, axis: int) -> None:
    model = parsed(f"y = {op} <axis = {axis}> (x)")
    rewritten = moving_one_axis(model)
    assert operators(rewritten) == ["Transpose", op, "Transpose"]
    assert [a.i for a in rewritten.graph.node[1].attribute] == [-1]
    x = drawn()
    (as_it_is,) = open_session(model.SerializeToString()).run(None, {"x": x})
    got = OrtEngine(model, "").run({"x": x})["y"]
    assert isinstance(got, np.ndarray)
    assert got.dtype == np.float32
    assert got.tobytes() == as_it_is.tobytes()


def test_float64_and_two_readers_of_one_tensor() -> None:
    kind = LONG.replace("float", "double")
    model = parsed("a = Softmax <axis = 1> (x) b = Softmax <axis = 2> (x) y = Sub (a, b)", kind)
    assert operators(moving_one_axis(model)) == [*["Transpose", "Softmax", "Transpose"] * 2, "Sub"]
    x = drawn("float64")
    (as_it_is,) = open_session(model.SerializeToString()).run(None, {"x": x})
    assert np.asarray(OrtEngine(model, "").run({"x": x})["y"]).tobytes() == as_it_is.tobytes()


@pytest.mark.parametrize(
    ("node", "kind", "opset"),
    [
        ("y = Softmax <axis = -1> (x)", LONG, 17),
        ("y = Softmax <axis = 3> (x)", LONG, 17),
        ("y = Softmax (x)", LONG, 17),
        ("y = Softmax <axis = 1> (x)", LONG, 12),  # along all axes from there on
        ("y = Softmax <axis = 1> (x)", "float[2,5,8,8]", 17),
        ("y = Softmax <axis = 1> (x)", "float[N,5,256,128]", 17),
        ("y = Softmax <axis = 1> (x)", LONG.replace("float", "float16"), 17),
        ("y = Hardmax <axis = 1> (x)", LONG, 17),
    ],
)
def test_others_stay_as_they_are(node: str, kind: str, opset: int) -> None:
    model = parsed(node, kind, opset)
    assert moving_one_axis(model) is model


def test_it_is_found_after_other_nodes() -> None:
    node = "h = Relu (x) s = Softmax <axis = 1> (h) y = Neg (s)"
    rewritten = moving_one_axis(parsed(node))
    assert operators(rewritten) == ["Relu", "Transpose", "Softmax", "Transpose", "Neg"]
    assert list(rewritten.graph.node[0].output) == ["h"]
    assert list(rewritten.graph.node[3].output) == ["s"]


def test_the_sizes_of_the_node_decide_and_not_those_of_the_input() -> None:
    node = "h = ReduceMean <axes = [2], keepdims = 1> (x) s = Softmax <axis = 1> (h) y = Add (x, s)"
    model = parsed(node)
    assert moving_one_axis(model) is model
