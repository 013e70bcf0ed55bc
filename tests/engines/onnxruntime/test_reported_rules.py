"""What threads report that releases of onnxruntime compute wrongly: at both ends of each range."""

from __future__ import annotations

import pytest

from tests.engines.cases import No, Yes, assert_no, assert_yes

POOL = "(float[1,1,6,6] x) => (float[1,1,N,M] y) { y = $ (x) }"
COUNTED = POOL.replace(
    "$", "AveragePool <ceil_mode=1, count_include_pad=1, kernel_shape=[3,3], strides=[2,2]>"
)
ENDS = POOL.replace("$", "AveragePool <count_include_pad=1, pads=[0,0,1,1], kernel_shape=[2,2]>")
PAST = POOL.replace("[1,1,6,6]", "[1,1,5,5]").replace(
    "$", "MaxPool <ceil_mode=1, kernel_shape=[2,2], pads=[1,1,1,1], strides=[2,2]>"
)
TURNED = (
    "(float[1,1,3,3] x, float[1,1,3,3] w) => (float[1,1,6,6] y)"
    ' { y = ConvTranspose <auto_pad="SAME_UPPER", strides=[2,2]> (x, w) }'
)
LAST = (
    "(float[1,4,5,3] x) => (float[1,8,5,3] y) <float[4] s = {1, 2, 1, 1}>"
    ' { y = Resize <mode="linear"> (x, , s) }'
)
CELU = "(float[2] x) => (float[2] y) { y = Celu <alpha = -0.5> (x) }"
PADDED = "(float[1,1,6,6] x) => (float[1,1,6,6] y) <int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}>"
MAXIMUM = PADDED + " { n = Neg (x) q = Pad (n, p) y = MaxPool <kernel_shape=[3,3]> (q) }"
AVERAGE = PADDED + " { q = Pad (x, p) y = AveragePool <kernel_shape=[3,3]> (q) }"
NORM = (
    "(float[4,4] x) => (float[4,4] y) <float two = {2}, float e = {0.1}, float[4] s = {1,2,3,4}>"
    " { p = Pow (x, two) v = ReduceMean <$> (p) a = Add (v, e) q = Sqrt (a) n = Div (x, q)"
    " y = Mul (n, s) }"
)
DROPPED = NORM.replace("$", "axes=[-1], keepdims=0")
OTHER = NORM.replace("$", "axes=[0]")
CENTRED = (
    "(float[4,4] x) => (float[4,4] y) <float two = {2}, float e = {0.1}, float[4] s = {1,2,3,4}>"
    " { m = ReduceMean <axes=[0]> (x) d = Sub (x, m) p = Pow (d, two)"
    " v = ReduceMean <axes=[0]> (p) a = Add (v, e) q = Sqrt (a) n = Div (d, q) w = Mul (n, s)"
    " y = Add (w, s) }"
)
UNMOVED = (
    "(float[3,4] x, float[4,4] w) => (float[3,4] y)"
    " { t = Transpose <perm=[0,1]> (w) y = Gemm (x, t) }"
)
SCALED = (
    "(float[2,3] x, float[3,2] w) => (float[1,2,2] y) <float[1,1,1] k = {0.5}>"
    " { a = Mul (x, k) y = MatMul (a, w) }"
)

FIRST = "ort-1.4"
COUNTING, AUTOMATIC = "attr:AveragePool.count_include_pad", "attr:ConvTranspose.auto_pad"
CASES = [
    (COUNTED, "counted-beyond-the-end", "attr:AveragePool.ceil_mode=1", FIRST, "ort-1.28", 13),
    (COUNTED, "counted-beyond-the-end", "attr:AveragePool.ceil_mode=1", FIRST, "ort-1.20", 19),
    (ENDS, "counted-by-another-axis", COUNTING, "ort-1.21", "ort-1.24", 19),
    (PAST, "window-in-the-padding", "attr:MaxPool.ceil_mode=1", FIRST, "ort-1.20", 13),
    (TURNED, "transposed-padding-at-the-other-end", AUTOMATIC, FIRST, "ort-1.12", 13),
    (LAST, "images-with-channels-last", "attr:Resize.mode=linear", "ort-1.10", "ort-1.11", 13),
    (CELU, "slope-below-zero", "op:Celu", FIRST, "ort-1.7", 12),
    (MAXIMUM, "pad-before-maximum", "form:Pad.before-pool", "ort-1.20", "ort-1.31", 13),
    (MAXIMUM, "pad-before-maximum", "form:Pad.before-pool", "ort-1.25", "ort-1.31", 21),
    (AVERAGE, "pad-before-average", "form:Pad.before-pool", "ort-1.20", "ort-1.20", 13),
    (DROPPED, "norm-of-dropped-axes", "form:ReduceMean.fused", FIRST, "", 13),
    (OTHER, "norm-of-other-axes", "form:ReduceMean.fused", FIRST, "ort-1.15", 13),
    (CENTRED, "norm-of-other-axes", "form:ReduceMean.fused", FIRST, "ort-1.15", 13),
    (UNMOVED, "transpose-that-moves-nothing", "form:Transpose.identity", "ort-1.8", "ort-1.29", 13),
    (SCALED, "scale-of-more-axes", "form:Mul.number-of-more-axes", "ort-1.8", "ort-1.22", 13),
]  # fmt: skip


def next_to(target: str, step: int) -> str:
    minor = int(target.partition(".")[2]) + step
    return f"ort-1.{minor}" if 4 <= minor <= 32 else ""


@pytest.mark.parametrize(("graph", "rule", "feature", "first", "last", "opset"), CASES)
def test_both_ends(graph: str, rule: str, feature: str, first: str, last: str, opset: int) -> None:
    for target in (first, last or "ort-1.32"):
        assert_yes(Yes(graph, rule, feature, "wrong", target=target, opset=opset))
    for target in filter(None, (next_to(first, -1), next_to(last, 1) if last else "")):
        assert_no(No(graph, rule, target, opset))
