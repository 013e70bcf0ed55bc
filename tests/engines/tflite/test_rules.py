"""The rules of TFLite."""

from __future__ import annotations

import pytest

from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes

T = "tflite1.29"
X = "(float[2,3] x) => (float[2,3] y) "
IMAGE = "(float[1,2,5,5] x) => (float[A,B,C,D] y) "
SCALED = IMAGE + "<float[4] s = {{1.0, 1.0, {}}}> {{ y = Resize <{}> (x, , s) }}"
CELL = "(float[4,2,3] x, float[1,6,3] w, float[1,6,2] r, float[1,12] b, float[1,2,2] h) "
WEIGHTS = "(float[1,2,5,5] x, float[2,2,2,2] w) => (float[A,B,C,D] y) "
VOLUME = (
    "(float[1,1,2,2,2] x) => (float[A,B,C,D,E] y) <float[1,1,1,1,1] w = {2.0}, float[1] b = {1.0}> "
)
LOOP = (
    "(float[2] x, int64 n, bool t) => ({y}) <float k = {{2.0}}> {{ {out} = Loop <body = b "
    "(int64 i, bool c, float[2] s) => (bool d, float[2] r{more}) {{ d = Identity (c) {nodes} }}>"
    " (n, t, x) }}"
)
ROUNDS = (
    "m = Identity (i) r = Loop <body = k (int64 j, bool e, float[2] p) => (bool f, float[2] q)"
    " { f = Identity (e) q = Add (p, p) }> (m, d, s)"
)
CHOICE = (
    "r = If <then_branch = t () => (float[2] p) { p = Neg (s) }, else_branch = e () => (float[2] q)"
    " { q = Abs (s) }> (c)"
)
ONE = {"y": "float[2] y", "out": "y", "more": ""}
TWO = {"y": "float[2] y, float[M,2] z", "out": "y, z", "more": ", float[2] o"}
BRANCHES = (
    "(float[2] x, bool c) => (float[2] y) <float k = {2.0}> { y = If <then_branch = a () => "
    "(float[2] u) { u = Mul (x, k) }, else_branch = e () => (float[2] v) { v = Neg (x) }> (c) }"
)

YES = [
    Yes(
        "(float[4,2,3] x, int64[1] s) => (float[M,A,B] y) <int64[1] z = {0}, int64[1] i = {1}>"
        " { t = Slice (x, z, s, z) n = Neg (t) y = Gather <axis = 1> (n, i) }",
        "axes-behind-unknown-sizes",
        "const:Slice.bounds",
        "wrong",
        "",
        T,
    ),
    Yes(
        LOOP.format(**ONE, nodes=ROUNDS),
        "loop-in-a-body",
        "scope:nested-loop",
        "reject",
        "InaccessibleTensorError",
        T,
    ),
    Yes(
        "(float[2,3] x, int32[1] s, int32[1] a) => (float[2,M] y) { y = Slice (x, s, s, a) }",
        "bounds-of-int32",
        "dtype:Slice.bounds",
        "reject",
        "TensorScatterUpdate",
        T,
    ),
    Yes(
        "(float[2,3] x, int64[1] s) => (float[M,3] y) { y = Slice (x, s, s) }",
        "axes-left-out",
        "form:Slice.no-axes",
        "reject",
        "NoneType",
        T,
    ),
    Yes(
        LOOP.format(**ONE, nodes="r = Mul (s, k)"),
        "constants-of-the-outer-graph",
        "scope:outer-constant",
        "reject",
        "KeyError",
        T,
    ),
    Yes(BRANCHES, "constants-of-the-outer-graph", "scope:outer-constant", "reject", "KeyError", T),
    Yes(
        LOOP.format(**ONE, nodes="r = Mul (s, x)"),
        "tensors-of-the-outer-graph",
        "scope:outer-tensor",
        "reject",
        "KerasTensor",
        T,
    ),
    Yes(
        LOOP.format(**TWO, nodes="r = Neg (s) o = Abs (s)"),
        "rounds-collected",
        "form:Loop.scan-outputs",
        "reject",
        "TensorArray",
        T,
    ),
    Yes(
        "(float[2] x, float[2] k) => (float[2] y, float[2] z) <float[2] z = {1.0, 2.0}> "
        "{ y = Add (x, k) }",
        "constant-output",
        "io:constant-output",
        "reject",
        "1 of 2 outputs came",
        T,
    ),
    Yes(
        CELL + "=> (float[4,1,2,2] y) { y = GRU <hidden_size = 2> (x, w, r) }",
        "cell-without-states",
        "form:GRU.unset-input",
        "reject",
        "'NoneType' object",
        T,
    ),
    Yes(
        X + "{ y = Softmax <axis = 0> (x) }",
        "softmax-of-flattened",
        "form:Softmax.flattened",
        "wrong",
        "",
        T,
        11,
    ),
    Yes(
        X + "<int64[1] s = {-1}, int64[1] e = {-9}, int64[1] a = {1}> "
        "{ y = Slice (x, s, e, a, s) }",
        "slice-backwards",
        "form:Slice.negative-steps",
        "wrong",
        "",
        T,
    ),
    Yes(
        "(float[3,3,4] x) => (float[3,3,4] y) { y = Transpose <perm = [1, 0, 2]> (x) }",
        "transpose-of-equal-sizes",
        "form:Transpose.equal-sizes",
        "wrong",
        "",
        T,
    ),
    Yes(
        "(float[2,3,3] x) => (float[2,1,3] y) { t = Neg (x) y = ReduceMax <axes = [1]> (t) }",
        "tensor-of-equal-sizes",
        "form:ReduceMax.equal-sizes",
        "wrong",
        "",
        T,
    ),
    Yes(
        "(float[2,3] x) => (float[1,1] y) { y = ReduceL1 (x) }",
        "norm-over-many-axes",
        "attr:ReduceL1.axes",
        "reject",
        "NoneType",
        T,
    ),
    Yes(
        "(float[3] x, float[3,2] w) => (float[2] y) { y = MatMul (x, w) }",
        "matmul-of-a-vector",
        "rank:MatMul.1",
        "reject",
        "batch_matmul",
        T,
    ),
    Yes(
        "(float[2,3,4] x) => (float[2,1,1] y) <int64[2,1,1] i = {0, 1}> "
        "{ y = GatherElements <axis = 1> (x, i) }",
        "elements-by-constants",
        "op:GatherElements",
        "reject",
        "Functional model",
        T,
    ),
    Yes(
        "(float[2,3,4] x, float[3,4] s) => (float[2,3,4] y) "
        "{ y = LayerNormalization <axis = 1> (x, s) }",
        "normalization-of-several-axes",
        "form:LayerNormalization.axes",
        "reject",
        "unsupported shape",
        T,
    ),
    Yes(
        VOLUME + "{ y = ConvTranspose (x, w, b) }",
        "bias-of-a-volume",
        "form:ConvTranspose.bias",
        "wrong",
        "",
        T,
    ),
    Yes(WEIGHTS + "{ y = Conv (x, w) }", "computed-weights", "const:Conv.W", "reject", "", T),
    Yes(
        SCALED.format("2.0, 2.0", 'nearest_mode = "ceil"'),
        "resize-other-places",
        "attr:Resize.coordinate_transformation_mode=half_pixel",
        "wrong",
        "",
        T,
    ),
    Yes(
        SCALED.format("1.5, 2.0", 'mode = "linear"'),
        "resize-other-places",
        "attr:Resize.coordinate_transformation_mode=half_pixel",
        "wrong",
        "",
        T,
    ),
    Yes(
        IMAGE + '<float[4] s = {1.0, 1.0, 2.0, 2.0}> { y = Upsample <mode = "linear"> (x, s) }',
        "resize-other-places",
        "form:Upsample.10",
        "wrong",
        "",
        T,
        9,
    ),
]

NO = [
    No(
        "(float[4,2,3] x, int64[1] s) => (float[M,A,B] y) <int64[1] z = {0}, int64[1] i = {1}>"
        " { t = Slice (x, z, s, z) n = Neg (t) y = Gather <axis = 0> (n, i) }",
        "axes-behind-unknown-sizes",
        T,
    ),
    No(LOOP.format(**ONE, nodes=CHOICE), "loop-in-a-body", T),
    No("(float[2] x, int32[1] s) => (float[M] y) { y = Slice (x, s, s) }", "bounds-of-int32", T),
    No("(float[2] x, int64[1] s) => (float[M] y) { y = Slice (x, s, s) }", "axes-left-out", T),
    No("(float[3,4] x) => (float[4,3] y) { y = Transpose (x) }", "transpose-of-equal-sizes", T),
    No(
        "(float[2,3,3] x) => (float[2,1,3] y) { t = Neg (x) y = ReduceMax <axes = [1]> (t) }",
        "input-of-equal-sizes",
        T,
        13,
    ),
    No(
        X + "<float[2,3] k = {1.0,2.0,3.0,4.0,5.0,6.0}, int64[1] s = {-1}, int64[1] e = {-9},"
        " int64[1] a = {1}> { c = Neg (k) d = Slice (c, s, e, a, s) y = Add (x, d) }",
        "slice-backwards",
        T,
    ),
    No(BRANCHES.replace("Mul (x, k)", "Neg (x)"), "constants-of-the-outer-graph", T),
    No(LOOP.format(**ONE, nodes="r = Neg (s)"), "tensors-of-the-outer-graph", T),
    No(LOOP.format(**ONE, nodes="r = Neg (s)"), "rounds-collected", T),
    No(VOLUME + "{ y = ConvTranspose (x, w) }", "bias-of-a-volume", T),
    No(X + "{ y = Softmax <axis = 1> (x) }", "softmax-of-flattened", T, 11),
    No(X + "{ y = Softmax <axis = 0> (x) }", "softmax-of-flattened", T, 13),
    No(
        CELL + "=> (float[4,1,2,2] y) { y = GRU <hidden_size = 2> (x, w, r, b, , h) }",
        "cell-without-states",
        T,
    ),
    No(SCALED.format("1.2, 2.0", 'mode = "linear"'), "resize-other-places", T),
    No(
        SCALED.format(
            "1.5, 2.0",
            'mode = "linear", coordinate_transformation_mode = "align_corners"',
        ),
        "resize-other-places",
        T,
    ),
    No(
        "(float[2,3,4] x, float[4] s) => (float[2,3,4] y) "
        "{ y = LayerNormalization <axis = 2> (x, s) }",
        "normalization-of-several-axes",
        T,
    ),
]

UNKNOWN = [
    Unknown(
        "(float[4,3] x, int64[2,1] i, float[2,3] u) => (float[4,3] y) { y = ScatterND (x, i, u) }",
        "updates-of-one-place",
        "whether places of i are the same",
        T,
    ),
    Unknown(
        "(float[1,N] b, float[1,1,4] s, int64 m) => (int64[K,3] y) "
        "{ y = NonMaxSuppression (b, s, m) }",
        "fewer-boxes",
        "how many boxes are chosen",
        T,
    ),
    Unknown(
        "(float[N,3] x, float[M,3] z) => (float[A,3] y) { y = Sum (x, z) }",
        "sum-of-other-shapes",
        "shapes of the operands",
        T,
    ),
    Unknown(
        "(float[N,3] x) => (float[3,N] y) { y = Transpose (x) }",
        "transpose-of-equal-sizes",
        "sizes of x",
        T,
    ),
    Unknown(
        "(float[N,M] x) => (float[A,B] y) <float[2] s = {1.5, 2.0}> "
        '{ y = Resize <mode = "linear"> (x, , s) }',
        "resize-other-places",
        "the sizes before and after, and the scales",
        T,
    ),
    Unknown(
        "(float[2,3] x, int64[1] s, int64[1] t) => (float[A,B] y) { y = Slice (x, s, t, s, t) }",
        "slice-backwards",
        "values of t",
        T,
    ),
]


@pytest.mark.parametrize("case", YES, ids=lambda case: case.rule)
def test_the_rule_finds(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: case.rule)
def test_the_rule_says_nothing(case: No) -> None:
    assert_no(case)


@pytest.mark.parametrize("case", UNKNOWN, ids=lambda case: case.rule)
def test_the_rule_names_what_it_misses(case: Unknown) -> None:
    assert_unknown(case)
