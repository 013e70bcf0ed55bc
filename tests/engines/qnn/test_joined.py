"""The rules of QNN that cannot say how far off a number is without the numbers."""

from __future__ import annotations

import pytest

from tests.engines.cases import No, Unknown, assert_no, assert_unknown

Q = "qnn2"
TANH = "(float[2,4] x, float[4,4] v) => (float[A,B] y) <float[4] b = {1,2,3,4}, float[4,4] w = " + (
    "{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}> "
)
WARP = (
    "(float[1,2,17,23] x, float[1,17,23,2] f) => (float[1,2,17,23] y) <float k = {0.1}> "
    "{ g = Mul (f, k) y = GridSample (x, g) }"
)
NUMBERS = "float two = {2}, float e = {1e-6}, float[4] w = {1,2,3,4}"
ROOT = (
    "m = ReduceMean <axes = [-1]> (p) d = Add (m, e) s = Sqrt (d) r = Reciprocal (s) "
    "n = Mul (x, r) y = Mul (w, n) }"
)

UNKNOWN = [
    Unknown(TANH + "{ g = MatMul (x, w) y = Tanh (g) }", "tanh-of-a-product",
        "how large g becomes", Q),
    Unknown(TANH + "{ m = MatMul (x, w) g = Add (b, m) y = Tanh (g) }", "tanh-of-a-product",
        "how large g becomes", Q),
    Unknown("(float[A,2] x) => (float[A,2] y) <float e = {1e-10}> { a = Add (x, e) y = Log (a) }",
        "logarithm-of-nearly-zero", "how near to 0 its operand comes", Q),
    Unknown("(float[4,2,16] x, float[1,64,16] w, float[1,64,16] r) => (float[A,B,C,D] y) "
        "{ y = LSTM <hidden_size = 16> (x, w, r) }", "lstm-of-many-states",
        "how large its outputs become", Q),
    Unknown(WARP, "places-in-float16", "how far g is off in float16", Q),
]  # fmt: skip

NO = [
    No(TANH + "{ g = MatMul (x, v) y = Tanh (g) }", "tanh-of-a-product", Q),
    No(TANH + "{ m = MatMul (x, w) g = Mul (m, b) y = Tanh (g) }", "tanh-of-a-product", Q),
    No(TANH + "{ g = MatMul (x, w) t = Tanh (g) y = Add (t, g) }", "tanh-of-a-product", Q),
    No("(float[A,2] x) => (float[A,2] y) <float e = {1e-6}> { a = Add (x, e) y = Log (a) }",
        "logarithm-of-nearly-zero", Q),
    No(WARP.replace("17,23", "8,8"), "places-in-float16", Q),
    No(WARP.replace("Sample (", 'Sample <mode = "nearest"> ('), "places-in-float16", Q),
    No(f"(float[A,4] x) => (float[A,4] y) <{NUMBERS}> {{ p = Pow (x, w) {ROOT}",
        "weight-before-a-normalized-row", Q),
    No(f"(float[A,4] x, float[A,4] z) => (float[A,4] y) <{NUMBERS}> {{ p = Pow (z, two) {ROOT}",
        "weight-before-a-normalized-row", Q),
]  # fmt: skip


@pytest.mark.parametrize("case", UNKNOWN, ids=lambda case: case.rule)
def test_unknown(case: Unknown) -> None:
    assert_unknown(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: case.rule)
def test_no(case: No) -> None:
    assert_no(case)
