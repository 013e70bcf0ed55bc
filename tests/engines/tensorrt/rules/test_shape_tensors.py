from __future__ import annotations

import pytest

from tests.engines.cases import No, Yes, assert_no, assert_yes

YES = [
    Yes(
        "(float[N,2] x, float[N,2] w) => (float[A,B] y) <int64[2] k = {-1, 2}, int64[1] m = "
        "{-1}> { s = Shape (w) c = Concat <axis = 0> (s, s) r = Reshape (c, k) t = "
        "Transpose <perm = [1, 0]> (r) p = Reshape (t, m) y = Pad (x, p) }",
        "shape-of-rank-2",
        "shape:Reshape.rank2",
        "reject",
        "0 or 1 reshape dimensions",
    ),
    Yes(
        "(float[N,2] x) => (float[A,B] y) <int64[1] i = {0}, int64[1] u = {1}> { s = Shape "
        "(x) t = ScatterElements (s, i, u) y = Expand (x, t) }",
        "no-shape-tensor",
        "shape:ScatterElements.shape-tensor",
        "reject",
        "IScatterLayer cannot be used",
    ),
    Yes(
        "(float[1] x) => (float[N] y) <float a = {0}, int64 z = {0}, int64 o = {1}> { r = "
        "Relu (x) m = ReduceMax <keepdims = 0> (r) i = Cast <to = 7> (m) g = Range (z, i, "
        "o) y = Cast <to = 1> (g) }",
        "shape-of-floats",
        "shape:Relu.shape-tensor",
        "reject",
        "IActivationLayer cannot be used",
    ),
]
NO = [
    No(
        "(int64[N] x) => (int64[M,2] y) <int64[2] k = {-1, 2}> { y = Reshape (x, k) }",
        "shape-of-rank-2",
    ),
    No(
        "(float[N,2] x, float[N,2] w) => (float[A,B] y) <int64[2] k = {-1, 2}, int64[1] m = "
        "{-1}> { s = Shape (w) c = Concat <axis = 0> (s, s) r = Reshape (c, k) t = "
        "Transpose <perm = [1, 0]> (r) p = Reshape (t, m) y = Pad (x, p) }",
        "shape-of-rank-2",
        "trt9.3",
    ),
    # What computes the elements of a tensor does not compute its sizes.
    No(
        "(float[N] x) => (float[M] y) <float h = {2.0}, int64 z = {0}, int64 o = {1}> { r = "
        "Relu (x) n = Shape (r) s = Squeeze (n) f = Cast <to = 1> (s) d = Div (f, h) c = "
        "Ceil (d) i = Cast <to = 7> (c) g = Range (z, i, o) y = Cast <to = 1> (g) }",
        "shape-of-floats",
    ),
    No(
        "(int64[4] x, int64[1] i, int64[1] u) => (int64[4] y) { y = ScatterElements (x, i, u) }",
        "no-shape-tensor",
    ),
]


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule}-{case.feature}-{case.target}")
def test_says_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: f"{case.rule}-{case.target}-{case.opset}")
def test_says_nothing(case: No) -> None:
    assert_no(case)
