"""What an initializer decides that a caller may override: nothing of it is constant."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, parser

import graphfix
from tests.sessions import session_of

X = np.arange(1, 7, dtype=np.float32)
CONSTS = (
    "int64[1] minus = {-1}, int64[1] zero = {0}, int64[1] one = {1}, float[1] each = {1.5}, "
    "int64 start = {0}, int64 step = {1}, int64[2] six = {2, 3}"
)
RESHAPED = "r = Reshape (x, w) "
# Each gives the tensor r from x, float[6], and w, int64[2] {2, 3} that may be of another length.
SHAPED = {
    "reshaped": RESHAPED,
    "filled": "r = ConstantOfShape (w) ",
    "expanded": "r = Expand (each, w) ",
    "tiled": "o = Reshape (x, w) r = Tile (o, w) ",
    "counted": "n = ReduceProd <keepdims = 0> (w) r = Range (start, n, step) ",
    "cut": "f = Gather (w, zero) r = Slice (x, zero, f) ",
    "padded": "f = Gather (w, zero) p = Concat <axis = 0> (f, zero) r = Pad (x, p) ",
    "picked": "f = Gather (w, zero) r, i = TopK (x, f) ",
    "one hot": "v = Constant <value_ints = [0, 1]> () n = Gather (w, start) "
    "r = OneHot <axis = -1> (six, n, v) ",
    "itself": "r = Identity (w) ",
    "joined": "j = Concat <axis = 0> (w, w) r = ConstantOfShape (j) ",
    "its shape": "h = Shape (w) r = ConstantOfShape (h) ",
    "in a branch": "q = Size (w) t = Cast <to = 9> (q) r = If (t) <"
    "then_branch = t1 () => (float[] a1) { a1 = Reshape (x, w) }, "
    "else_branch = t2 () => (float[] a2) { a2 = Identity (x) }> ",
    "in a loop": "c = Constant <value = bool {1}> () m = Constant <value_int = 1> () "
    "r = Loop (m, c, x) <body = l (int64 i, bool b, float[] v) => (bool d, float[] u) "
    "{ d = Identity (b) u = Reshape (v, w) }> ",
    "in a function": "r = f.shaped (x, w) ",
}
FUNCTION = '\n<domain: "f", opset_import: ["" : 17]>\nshaped (v, w) => (u) { u = Reshape (v, w) }'
# What is made of r: its rank, its sizes, how many numbers it has.
READ = {
    "rank": "s = Shape (r) k = Size (s) y = Cast <to = 11> (k) ",
    "sizes": "s = Shape (r) k = ReduceSum <keepdims = 0> (s) y = Cast <to = 11> (k) ",
}


def model_of(body: str, declared: str = "K", version: int = 8) -> ModelProto:
    text = (
        f'<ir_version: {version}, opset_import: ["" : 17, "f" : 1]> '
        f"g (float[6] x, int64[{declared}] w) => (double[A] y, float[6] z) "
        f"<int64[2] w = {{2, 3}}{f', {CONSTS}' if version > 3 else ''}> {{ {body} z = Neg (x) }}"
    )
    return parser.parse_model(text + (FUNCTION if "f.shaped" in body else ""))


def assert_same(model: ModelProto, given: tuple[list[int], ...], target: str = "trt8") -> int:
    """Compare without proof what graphfix wrote; return on how many the model runs."""
    result = graphfix.run(graphfix.load(model), target=target, verify="off")
    assert result.model is not None
    before, after = session_of(model), session_of(result.model.to_proto())
    ran = 0
    for values in ({}, *({"w": np.array(w, np.int64)} for w in given)):
        feed = {"x": X, **values}
        try:
            wanted = before.run(None, feed)
        except Exception:  # these values suit other operators
            continue
        ran += 1
        for one, other in zip(wanted, after.run(None, feed), strict=True):
            assert one.shape == other.shape, values
            assert np.array_equal(one, other), values
    return ran


@pytest.mark.parametrize("read", READ.values(), ids=list(READ))
@pytest.mark.parametrize("shaped", SHAPED.values(), ids=list(SHAPED))
def test_what_an_overridable_initializer_shapes_is_open(shaped: str, read: str) -> None:
    assert assert_same(model_of(shaped + read), ([3, 2], [6], [3, 1, 2], [1, 6])) >= 3
    assert assert_same(model_of(shaped + read, "2"), ([3, 2], [6, 1])) >= 2


def test_a_declared_length_binds_the_caller() -> None:
    body = "k = Size (w) y = Cast <to = 11> (k)"
    for declared, kept in (("2", 0), ("K", 1), ("", 1)):
        model = model_of(body, declared)
        result = graphfix.run(graphfix.load(model), target="trt8", verify="off")
        assert result.model is not None
        assert [n.op_type for n in result.model.to_proto().graph.node].count("Size") == kept
        assert_same(model, ([3, 2], [3, 1, 2]))


def test_up_to_ir_3_an_initializer_is_a_constant_though_it_is_an_input() -> None:
    model = model_of(RESHAPED + READ["rank"], version=3)
    result = graphfix.run(graphfix.load(model), target="trt8", verify="off")
    assert result.model is not None
    kept = [n.op_type for n in result.model.to_proto().graph.node]
    assert "Size" not in kept
    assert session_of(model).get_overridable_initializers() == []
    assert assert_same(model, ()) == 1
