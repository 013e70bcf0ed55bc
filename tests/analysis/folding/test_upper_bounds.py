"""What a computed number is never above."""

from __future__ import annotations

import onnx
import pytest

from graphfix.analysis.folding.lower_bounds import not_negative
from graphfix.analysis.folding.upper_bounds import upper_bound
from graphfix.authoring.registry import shipped_passes
from graphfix.ir.views import Value
from graphfix.pipeline.model_files import load
from graphfix.pipeline.model_types import infer_types


def bound_of(body: str, inputs: str = "float[N, M] x", opset: int = 13) -> int | None:
    text = (
        f'<ir_version: 8, opset_import: ["": {opset}]> g ({inputs}) => (int64[a] y) '
        f"<int64 c = {{100}}, int64[1] d = {{100}}, int64[2] e = {{7, 9}}, int64 i = {{1}}, "
        f"int64[1] z = {{0}}, float f = {{2.5}}, float big = {{1e30}}> "
        f"{{ s = Shape (x) {body} }}"
    )
    model = load(onnx.parser.parse_model(text))
    infer_types(model, shipped_passes())
    return upper_bound(Value(model.graph.outputs[0]))


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("n = Gather (s, i) m = Min (n, c) y = Unsqueeze (m, z)", 100),
        ("n = Gather (s, i) m = Min (c, n) w = Cast <to = 6> (m) v = Cast <to = 7> (w) "
         "y = Reshape (v, d)", 100),
        ("n = Slice (s, z, d) t = Concat <axis = 0> (n, d) y = ReduceMin (t)", 100),
        ("n = Gather (s, z) p = Slice (d, z, n) t = Concat <axis = 0> (n, p) y = ReduceMin (t)",
         None),
        ("t = Concat <axis = 0> (d, e) y = ReduceMin (t)", 9),
        ("t = Concat <axis = 0> (d, e) y = Identity (t)", 100),
        ("y = Max (d, e)", 100),
        ("n = Gather (s, z) y = Max (n, d)", None),
        ("n = Gather (s, i) y = Unsqueeze (n, z)", None),
        ("n = Gather (s, i) m = Min (n, c) k = Mul (m, m) y = Unsqueeze (k, z)", None),
        ("n = Gather (s, i) m = Min (n, c) w = Cast <to = 2> (m) v = Cast <to = 7> (w) "
         "y = Unsqueeze (v, z)", None),
        ("w = Cast <to = 7> (f) y = Unsqueeze (w, z)", 3),
        ("w = Cast <to = 7> (big) y = Unsqueeze (w, z)", None),
    ],
)  # fmt: skip
def test_bounds(body: str, wanted: int | None) -> None:
    assert bound_of(body) == wanted


def test_sizes_and_inputs() -> None:
    assert bound_of("y = Identity (s)", "float[3, 8] x") == 8
    assert bound_of("y = Identity (k)", "float[3, 8] x, int64[1] k") is None


def test_what_a_cast_to_int32_may_wrap_is_not_followed() -> None:
    body = "m = Min (k, d) w = Cast <to = 6> (m) y = Cast <to = 7> (w)"
    assert bound_of(body, "float[3, 8] x, int64[1] k") is None
    assert bound_of(body.replace("(k, d)", "(s, d)")) == 100
    assert bound_of(body.replace("6", "1"), "float[3, 8] x, int64[1] k") == 100


def test_a_reduction_over_no_axes_reduces_nothing() -> None:
    body = "t = Concat <axis = 0> (d, e) y = ReduceMin <noop_with_empty_axes = 1> (t)"
    assert bound_of(body, opset=18) == 100
    assert bound_of(body.replace("<noop_with_empty_axes = 1> ", ""), opset=18) == 9


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("y = Sigmoid (x)", True),
        ("a = Relu (x) b = Exp (x) y = Mul (a, b)", True),
        ("a = Softmax (x) y = DepthToSpace <blocksize = 2> (a)", True),
        ("a = Abs (x) b = Neg (x) y = Concat <axis = 0> (a, b)", False),
        ("y = Tanh (x)", False),
    ],
)
def test_what_is_known_not_to_be_below_zero(body: str, wanted: bool) -> None:
    text = (
        f'<ir_version: 8, opset_import: ["": 13]> g (float[1, 4, 2, 2] x) => (float y) {{{body}}}'
    )
    model = load(onnx.parser.parse_model(text))
    assert not_negative(Value(model.graph.outputs[0])) == wanted
