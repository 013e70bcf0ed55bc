"""Quantized types next to quantization: constants of them, casts, and zero points."""

from __future__ import annotations

import pytest

from tests.engines.cases import No, Yes, assert_no, assert_yes

_WEIGHTS = "<int8[2,3] c = {1, 2, 3, 4, 5, 6}, float s = {0.5}>"
_RULE = "quantized-constant"


def graph(body: str) -> str:
    return f"(float[2,3] x, int64[2] i) => (float[n,m] y) {_WEIGHTS} {{ {body} }}"


@pytest.mark.parametrize("target", ["trt8.0", "trt8.6", "trt10.10", "trt11.1", "trt-rtx1.7"])
def test_a_cast_of_one_is_refused_when_the_engine_is_built(target: str) -> None:
    case = graph("d = Cast <to = 1> (c) y = Add (x, d)")
    text = "only allowed before DQ"
    assert_yes(Yes(case, _RULE, "dtype:Cast.int8-constant", "builder", text, target))


@pytest.mark.parametrize(
    ("body", "feature"),
    [
        ("t = Transpose (c) d = DequantizeLinear (t, s) y = Identity (d)", "Transpose"),
        ("t = Gather (c, i) d = DequantizeLinear (t, s) y = Identity (d)", "Gather"),
        (
            "c0 = Constant <value = int8[2,3] {1,2,3,4,5,6}> () t = Identity (c0) "
            "d = DequantizeLinear (t, s) y = Add (x, d)",
            "Identity",
        ),
    ],
)
def test_what_is_before_dequantizelinear_is_refused_too(body: str, feature: str) -> None:
    assert_yes(Yes(graph(body), _RULE, f"dtype:{feature}.int8-constant", "builder"))


@pytest.mark.parametrize(
    "body",
    [
        "d = DequantizeLinear (c, s) y = Add (x, d)",
        "z = Constant <value = int8 {0}> () q = QuantizeLinear (x, s, z) "
        "y = DequantizeLinear (q, s, z)",
        "u = Constant <value = uint8[3] {1, 2, 3}> () d = Cast <to = 1> (u) y = Add (x, d)",
        "d = MyPlugin (c) y = Add (x, d)",
    ],
)
def test_what_is_taken(body: str) -> None:
    assert_no(No(graph(body), _RULE))
    assert_no(No(graph(body), _RULE, "trt-rtx1.7"))


def test_7_2_is_not_known_to_refuse_it() -> None:
    assert_no(No(graph("d = Cast <to = 1> (c) y = Add (x, d)"), _RULE, "trt7.2"))


def test_a_constant_that_is_returned_is_refused() -> None:
    case = "(float[1] x) => (float[1] y, int8[2] c) <int8[2] c = {1, 2}> { y = Identity (x) }"
    rule = "quantized-constant-output"
    assert_yes(Yes(case, rule, "io:int8-constant", "builder"))


@pytest.mark.parametrize(
    ("case", "feature"),
    [
        ("(float16[2] x) => (float8e4m3fn[2] y) { y = Cast <to = 17> (x) }", "float8e4m3fn"),
        ("(int4[2] x) => (float[2] y) { y = Cast <to = 1> (x) }", "int4"),
    ],
)
def test_a_cast_of_a_narrow_type_is_refused(case: str, feature: str) -> None:
    wanted = Yes(case, "cast-of-narrow-type", f"dtype:Cast.{feature}", "builder", "FP8")
    assert_yes(wanted._replace(target="trt-rtx1.7", opset=21))
    assert_no(No(case, "cast-of-narrow-type", "trt10.1", 21))


def test_a_cast_of_int8_is_taken() -> None:
    case = "(float[2] x) => (int8[2] y) { y = Cast <to = 3> (x) }"
    assert_no(No(case, "cast-of-narrow-type", "trt-rtx1.7"))
