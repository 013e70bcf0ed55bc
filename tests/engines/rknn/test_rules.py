"""The rules of RKNN, and what its messages name."""

from __future__ import annotations

import onnx
import pytest

from graphfix.engines.engine import engine_of
from tests.engines.cases import No, Unknown, assert_no, assert_unknown, check

R = "rknn2.3"
X = "(float[2,3] x) => (float[2,3] y) "


@pytest.mark.parametrize(("order", "count"), [('"far" : 1, "" : 17', 1), ('"" : 17, "far" : 1', 0)])
def test_the_first_import_is_taken_for_the_opset(order: str, count: int) -> None:
    text = f"<ir_version: 8, opset_import: [{order}]> g {X} {{ y = Exp (x) }}"
    found = [
        f.feature for f in check(onnx.parser.parse_model(text), R) if f.rule == "foreign-import"
    ]
    assert found == ["domain:first.far"] * count


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("The input 0 of NonZero('y') need to be constant!", ("NonZero", "y")),
        ("The Loop('/Loop') will cause the graph to be a dynamic graph!", ("Loop", "/Loop")),
        ("Unsupport onnx opset 21, need <= 19!", ("", "")),
    ],
)
def test_what_a_message_names(said: str, named: tuple[str, str]) -> None:
    assert engine_of("rknn").blamed(said) == named


def _in_a_row(count: int, weight: str, tail: str, biased: str = "") -> str:
    """Return a graph of Convs of one channel whose nine weights are the same."""
    given = f"float[1,1,3,3] w = {{{', '.join([weight] * 9)}}}" + (biased and f", {biased}")
    row = [
        f"t{i + 1} = Conv <pads = [1,1,1,1]> (t{i}, w{', b' if biased else ''})"
        for i in range(count)
    ]
    return f"(float[1,1,8,8] t0) => (float[A,B,C,D] y) <{given}> {{ {' '.join(row)} {tail} }}"


@pytest.mark.parametrize(
    ("graph", "is_constant"),
    [
        (_in_a_row(12, "0.001", "y = Sigmoid (t12)"), True),
        (_in_a_row(12, "0.001", "y = GlobalAveragePool (t12)"), True),
        (_in_a_row(12, "0.001", "k = Constant <value_float = 0.5> () y = Add (t12, k)"), True),
        (_in_a_row(12, "0.001", "y = Add (t12, t0)"), False),
        (_in_a_row(12, "0.001", "y = Relu (t12)", "float[1] b = {0.5}"), False),
        (_in_a_row(12, "0.001", "y = Relu (t12)", "float[1] b = {1e-10}"), True),
        (_in_a_row(6, "0.001", "y = Relu (t6)"), False),
        (_in_a_row(1, "1e-8", "y = Sigmoid (t1)"), True),
        (_in_a_row(1, "1e-7", "y = Sigmoid (t1)"), False),
        ("(float[2] x) => (float[2] y) <float k = {1e-8}> { y = Mul (x, k) }", True),
        ("(float[2] x) => (float[2] y) <float k = {1e-7}> { y = Mul (k, x) }", False),
        ("(float[1,1,2,2] x, float[1,1,1,1] w) => (float[A,B,C,D] y) { y = Conv (x, w) }", False),
    ],
)
def test_outputs_in_which_nothing_of_the_inputs_is_left(graph: str, is_constant: bool) -> None:
    """Each of these was asked of the toolkit; but where the weights are an input."""
    text = f'<ir_version: 8, opset_import: ["" : 17]> g {graph}'
    found = [f for f in check(onnx.parser.parse_model(text), R) if f.rule == "vanishing-output"]
    assert [f.feature for f in found] == ["io:vanishing-output"] * is_constant


def _two_products(weight: str) -> str:
    """Return a graph of two products by sixteen weights each."""
    weights = ", ".join([weight] * 256)
    return (
        f"(float[2,16] x) => (float[2,16] y) <float[16,16] w = {{{weights}}}> "
        "{ a = MatMul (x, w) r = Relu (a) y = MatMul (r, w) }"
    )


def test_numbers_that_grow_beyond_float16() -> None:
    """Both were asked of the toolkit, with some weights below 0."""
    rule = "grown-beyond-float16"
    missing = "how large y becomes: about 1e+05 for inputs around 1"
    assert_unknown(Unknown(_two_products("60.0"), rule, missing, R))
    assert_no(No(_two_products("0.5"), rule, R))
