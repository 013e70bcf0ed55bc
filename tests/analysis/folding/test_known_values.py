"""Values that are known in full and in part, and where nothing may be known."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from graphfix.analysis.folding.known_values import Knowledge, know
from graphfix.analysis.inference import infer_model
from graphfix.ir.graph import Graph, Tensor
from graphfix.ir.model import Model
from graphfix.ir.views import Value

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'


def looked_at(text: str) -> tuple[Knowledge, Model]:
    model = Model(onnx.parser.parse_model(HEAD + text))
    infer_model(model)
    return know(model), model


def tensor_of(model: Model, name: str) -> Tensor:
    graphs: list[Graph] = list(model.graphs())
    for graph in graphs:
        for node in graph.nodes:
            tensors: list[Tensor] = node.outputs
            for tensor in tensors:
                if tensor.name == name:
                    return tensor
    raise AssertionError(f"no tensor is called {name}")


def part_of(text: str, name: str = "y") -> Any:
    knowledge, model = looked_at(text)
    part = knowledge.part(Value(tensor_of(model, name)))
    return None if part is None else part.tolist()


def shape_model(*lines: str, inputs: str = "float[N,3,M] x", consts: str = "") -> str:
    return f"g ({inputs}) => (int64[K] out) {consts} {{ {' '.join(lines)} out = Identity (y) }}"


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ("", ["N", 3, "M"]),
        ("<start = 1>", [3, "M"]),
        ("<start = -1>", ["M"]),
        ("<end = -1>", ["N", 3]),
        ("<start = 1, end = 2>", [3]),
        ("<start = -100, end = 100>", ["N", 3, "M"]),
        ("<start = 5>", []),
        ("<start = 2, end = 1>", []),
        ("<end = -9>", []),
    ],
)
def test_shape_with_start_and_end(attributes: str, expected: list[object]) -> None:
    assert part_of(shape_model(f"y = Shape {attributes} (x)")) == expected


def test_size_is_known_when_all_dims_are() -> None:
    assert part_of(shape_model("y = Size (x)", inputs="float[2,3] x")) == 6
    assert part_of(shape_model("y = Size (x)")) is None


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("s = Shape (x)", "y = Gather (s, neg)"), ["M", "N"]),
        (("s = Shape (x)", "y = Slice (s, one, big, zero)"), [3, "M"]),
        (("s = Shape (x)", "y = Concat <axis = 0> (s, two)"), ["N", 3, "M", 2]),
        (("s = Shape (x)", "y = Mul (s, two)"), [None, 6, None]),
        (("s = Shape (x)", "y = Mul (s, one)"), ["N", 3, "M"]),
        (("s = Shape (x)", "y = Sub (s, s)"), [0, 0, 0]),
        (("s = Shape (x)", "y = Div (s, two)"), [None, 1, None]),
        (("s = Shape (x)", "y = Add (s, zero)"), ["N", 3, "M"]),
        (("s = Shape (x)", "c = Cast <to = 6> (s)", "y = Cast <to = 7> (c)"), [None, 3, None]),
        (("s = Shape (x)", "c = Cast <to = 13> (s)", "y = Cast <to = 7> (c)"), ["N", 3, "M"]),
        (("s = Shape (x)", "b = Cast <to = 9> (s)", "y = Cast <to = 7> (b)"), [None, 1, None]),
        (("s = Shape (x)", "e = Equal (s, minus)", "y = Where (e, one, s)"), ["N", 3, "M"]),
        (("s = Shape (x)", "e = Equal (s, s)", "y = Where (e, one, s)"), [1, 1, 1]),
        (("s = Shape (x)", "e = Equal (s, two)", "y = Where (e, one, s)"), [None, 3, None]),
        (("s = Shape (x)", "r = Reshape (s, col)", "y = Squeeze (r, one)"), ["N", 3, "M"]),
    ],
)
def test_known_in_part(lines: tuple[str, ...], expected: list[object]) -> None:
    consts = (
        "<int64[2] neg = {-1, 0}, int64[1] one = {1}, int64[1] zero = {0}, int64[1] two = {2}, "
        "int64[1] big = {1000}, int64[1] minus = {-1}, int64[2] col = {3, 1}>"
    )
    assert part_of(shape_model(*lines, consts=consts)) == expected


def test_what_wraps_round_is_not_known() -> None:
    text = shape_model(
        "s = Shape (x)",
        "c = Concat <axis = 0> (s, big)",
        "d = Cast <to = 6> (c)",
        "y = Cast <to = 7> (d)",
        consts="<int64[1] big = {4294967297}>",
    )
    assert part_of(text) == [None, 3, None, None]


@pytest.mark.parametrize("to", [2, 3, 4, 5, 6, 12])  # integers of up to 32 bits
def test_a_size_is_not_known_in_a_type_that_does_not_hold_all_sizes(to: int) -> None:
    lines = ("s = Shape (x)", f"c = Cast <to = {to}> (s)", "y = Cast <to = 7> (c)")
    assert part_of(shape_model(*lines)) == [None, 3, None]
    wrapped = int(np.array(300).astype(helper.tensor_dtype_to_np_dtype(to)))
    assert part_of(shape_model(*lines, inputs="float[300,3] x")) == [wrapped, 3]


def test_an_initializer_that_the_caller_may_override_is_not_known() -> None:
    text = "g (float[2] x, int64[K] w) => (int64[L] out) <int64[2] w = {4, 5}> { LINES }"
    assert part_of(text.replace("LINES", "y = Neg (w) out = Identity (y)")) is None
    shape = "y = Shape (w) out = Identity (y)"
    assert part_of(text.replace("LINES", shape)) == ["K"]
    assert part_of(text.replace("[K]", "[2]").replace("LINES", shape)) == [2]
    assert part_of(text.replace("[K]", "[]").replace("LINES", shape)) is None


def test_symbols_mean_nothing_in_the_body_of_a_loop() -> None:
    body = "body (int64 i, bool c, float[N,3] v) => (bool c2, float[N,3] v2, int64[2] y2) "
    text = (
        "g (float[N,3] x, int64 count) => (float[N,3] z, int64[T,2] ys) <bool yes = {1}> { "
        f"z, ys = Loop (count, yes, x) <body = {body} "
        "{ c2 = Identity (c) v2 = Identity (v) y = Shape (v) y2 = Identity (y) }> }"
    )
    known = part_of(text)
    assert known is None or [size for size in known if isinstance(size, str)] == []
    knowledge, model = looked_at(text)
    assert knowledge.full(Value(tensor_of(model, "c2"))) is None


def test_the_input_of_a_function_is_not_known() -> None:
    text = (
        '<ir_version: 9, opset_import: ["" : 17, "f" : 1]>\n'
        "g (float[2,3] x) => (int64[2] out) { out = f.shape (x) }\n"
        '<domain: "f", opset_import: ["" : 17]>\n'
        "shape (v) => (y) { s = Shape (v) y = Identity (s) }"
    )
    model = Model(onnx.parser.parse_model(text))
    assert know(model).part(Value(tensor_of(model, "s"))) is None
    infer_model(model)
    assert know(model).part(Value(tensor_of(model, "s"))).tolist() == [2, 3]  # type: ignore[union-attr]


def test_big_constants_are_not_read() -> None:
    weights = np.zeros(1 << 15, np.float32)
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Neg", ["w"], ["y"])],
        "g",
        [],
        [onnx.helper.make_tensor_value_info("y", 1, [1 << 15])],
        [onnx.numpy_helper.from_array(weights, "w")],
    )
    model = Model(onnx.helper.make_model(graph))
    assert know(model, limit=1 << 10).full(Value(tensor_of(model, "y"))) is None
    known = know(model, limit=1 << 20).full(Value(tensor_of(model, "y")))
    assert known is not None
    assert known.shape == (1 << 15,)
