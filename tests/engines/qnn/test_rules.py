"""The rules of QNN, and what its messages name."""

from __future__ import annotations

import pytest

from graphfix.engines.engine import engine_of
from tests.engines.cases import No, Yes, assert_no, assert_yes, check, model_of

Q = "qnn2"
X = "(float[2,3] x) => (float[2,3] y) "
POOL = "(float[1,3,8,8] x) => (float[A,B,C,D] y) "
LINE = "(float[1,3,8] x) => (float[A,B,C] y) "
GELU = (
    "<float root = {1.4142135}, float one = {1}, float half = {0.5}> "
    "{ d = Div (x, root) e = Erf (d) a = Add (e, one) "
)
WINDOWS = (
    "(float[{b},8,8,3] x) => (float[A,B,C] y) <int64[6] s = {{{b},2,4,2,4,3}}, "
    "int64[3] t = {{-1,16,3}}> {{ p = Reshape (x, s) q = Transpose <perm = [{perm}]> (p) "
    "y = Reshape (q, t) }}"
)
BATCHES = "(float[2,2,3,4,5] x) => (float[A,B,C,D,E] y) <float[5,1] w = {1, 2, 3, 4, 5}> "
GRU = (
    "(float[2,1,1] x, float[1,3,1] w, float[1,3,1] r) => (float[2,1,1,1] y) "
    "{{ y = GRU <hidden_size = 1{more}> (x, w, r) }}"
)
SIXTH = "{ h = HardSigmoid <alpha = 0.1666666716> (x) "
IMAGE = "(float[1,3,5,6] x) => (float[1,3,{}] y) "

EARLY = (
    "(float[2,2] x) => (float[2,2] y) { g = Shape (x) o = ConstantOfShape <value = float[1] {2}> "
    '(g) c = Einsum <equation = "ij,jk->ik"> (o, o) y = Add (x, c) }'
)
# The shape of b is what constants say, though nothing infers it before they are computed.
LATE = (
    "(float[2,3] x) => (float[A,B] y) <float[1,1] k = {1}, int64[2] s = {-1, 3}, int64[2] t = "
    "{2, 3}, int64 m = {-1}> { e = Equal (s, m) w = Where (e, t, s) b = Expand (k, w) "
    "g = Shape (b) y = Expand (x, g) }"
)

YES = [
    Yes("(float[64] x) => (float[2,2,2,2,2,2] y) <int64[6] s = {2,2,2,2,2,2}> "
        "{ y = Reshape (x, s) }", "many-dimensions", "rank:Reshape.6", "reject", "left to the CPU",
        Q),
    Yes(X + "{ y = Erf (x) }", "erf-alone", "op:Erf", "reject", "left to the CPU", Q),
    Yes(X + GELU + "y = Mul (a, half) }", "erf-alone", "op:Erf", "reject", "left to the CPU", Q),
    Yes(POOL + "{ y = AveragePool <kernel_shape = [9,9], ceil_mode = 1> (x) }",
        "window-beyond-the-input", "shape:AveragePool.window", "reject", "NHWC", Q),
    Yes("(float[2,3] x, float[3,2] w) => (float[2,2] y) { y = Gemm <alpha = 0.5> (x, w) }",
        "scaled-gemm", "form:Gemm.scaled", "reject", "left to the CPU", Q),
    Yes(X + "<int64 a = {1}> { y = CumSum <reverse = 1> (x, a) }", "cumulated-otherwise",
        "attr:CumSum.backwards", "reject", "left to the CPU", Q),
    Yes("(float[2,3] x, float[2,3] s) => (float[2,3] y) "
        "{ y = LayerNormalization <axis = 0> (x, s) }",
        "normalized-over-several-axes", "attr:LayerNormalization.axis", "reject",
        "left to the CPU", Q),
    Yes("(int64[2,3] x) => (int64[3,2] y) { y = Transpose (x) }", "transposed-int64",
        "dtype:Transpose.int64", "reject", "left to the CPU", Q),
    Yes("(float[2] x) => (int64[2] y) { y = Cast <to = 7> (x) }", "cast-to-an-output",
        "dtype:Cast.int64", "reject", "left to the CPU", Q),
    Yes(LINE + "<float[3] s = {1, 1, 2}> { y = Resize (x, , s) }", "nearest",
        "attr:Resize.mode=nearest", "reject", "left to the CPU", Q),
    Yes(POOL + "{ y = AveragePool <kernel_shape=[3,3], strides=[2,2], ceil_mode=1> (x) }",
        "averaged-beyond-the-end", "attr:AveragePool.ceil_mode=1", "wrong", "", Q),
    Yes(LINE + "{ y = AveragePool <kernel_shape=[3], pads=[1,1], count_include_pad=1> (x) }",
        "averaged-padding", "form:AveragePool.padding", "wrong", "", Q),
    Yes(POOL + "{ y = AveragePool <kernel_shape=[3,3], pads=[1,1,0,0]> (x) }",
        "averaged-padding", "form:AveragePool.padding", "wrong", "", Q),
    Yes(LINE + "<int64[6] p = {0,0,1,0,0,1}> { q = Pad (x, p) "
        "y = AveragePool <kernel_shape=[3]> (q) }", "averaged-padding", "form:AveragePool.padding",
        "wrong", "", Q),
    Yes(X + "{ i = Cast <to = 6> (x) y = Cast <to = 1> (i) }", "cast-there-and-back",
        "form:Cast.truncates", "wrong", "", Q),
    Yes("(int64[2] x) => (int64[2] y) <int64 two = {2}> { y = Div (x, two) }", "divided-integers",
        "dtype:Div.int64", "wrong", "", Q),
    Yes(BATCHES + "{ y = MatMul (x, w) }", "batches-by-a-constant", "rank:MatMul.5", "reject",
        "left to the CPU", Q),
    Yes(GRU.format(more=', activations = ["Sigmoid", "Tanh"]'), "named-activations",
        "attr:GRU.activations", "reject", "left to the CPU", Q),
    Yes(GRU.format(more=", clip = 1.0"), "named-activations", "attr:GRU.clip", "reject",
        "left to the CPU", Q),
    Yes(X + SIXTH + "y = Mul (x, h) }", "hard-swish-in-two", "form:Mul.hard-sigmoid", "wrong", "",
        Q),
    Yes(IMAGE.format("9,13") + "<float[4] s = {1, 1, 1.8, 2.1666668}> "
        '{ y = Resize <mode = "linear"> (x, , s) }', "scale-that-falls-short",
        "form:Resize.scales", "reject", "left to the CPU", Q),
    Yes("(float[1,1,3,3] x) => (float[1,1,5,6] y) <float[4] s = {1, 1, 1.8, 2}> { y = Resize "
        '<mode = "linear"> (x, , s) }', "scale-of-the-sizes", "form:Resize.scales", "wrong", "", Q),
    Yes("(float[1,1,3,4] x) => (float[1,1,6,8] y) <float[4] s = {1, 1, 2, 2.17}> { y = Resize "
        '<coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"> (x, , s) }',
        "scale-of-the-sizes", "form:Resize.scales", "wrong", "", Q),
    Yes(IMAGE.format("9,13") + "<int64[4] s = {1, 3, 9, 13}> { y = Resize (x, , , s) }",
        "nearest-of-other-places", "attr:Resize.mode=nearest", "wrong", "", Q),
    Yes(IMAGE.format("10,12") + "<float[4] s = {1, 1, 2, 2}> { y = Resize "
        '<nearest_mode = "floor"> (x, , s) }', "nearest-of-other-places",
        "attr:Resize.mode=nearest", "wrong", "", Q),
    Yes(IMAGE.format("10,12") + '<float[4] s = {1, 1, 2, 2}> { y = Resize <mode = "linear"> '
        "(x, s) }", "resize-of-opset-10", "form:Resize.10", "wrong", "", Q, 10),
    Yes("(double[2] x) => (float[2] y) { y = Cast <to = 1> (x) }", "stated-io-types",
        "io:float64-input", "reject", "", Q),
    Yes("(uint8[2] x) => (float[2] y) { y = Cast <to = 1> (x) }", "bytes-as-bools",
        "form:Cast.uint8-to-float32", "wrong", "", Q),
    Yes(IMAGE.format("9,13") + "<float[4] s = {1, 1, 1.8, 2.1666667}> { y = Upsample (x, s) }",
        "scale-that-falls-short", "op:Upsample", "reject", "left to the CPU", Q, 9),
    Yes(IMAGE.format("9,13") + "{ y = Upsample <scales = [1.0, 1.0, 1.8, 2.1666667]> (x) }",
        "scale-that-falls-short", "op:Upsample", "reject", "left to the CPU", Q, 8),
    Yes(IMAGE.format("9,13") + "<float[4] s = {1, 1, 1.8, 2.1666667}> { y = Resize (x, s) }",
        "scale-that-falls-short", "form:Resize.10", "reject", "left to the CPU", Q, 10),
    Yes(IMAGE.format("8,9") + "<float[4] s = {1, 1, 1.75, 1.5}> { y = Upsample (x, s) }",
        "scale-of-the-sizes", "op:Upsample", "wrong", "", Q, 9),
    Yes("(float[1,3,8] x) => (float[1,3,16] y) <float[3] s = {1, 1, 2}> { y = Upsample (x, s) }",
        "resized-rank", "rank:Upsample.3", "reject", "left to the CPU", Q, 9),
    Yes('(float[3,4] x) => (float[6,8] y) <float[2] s = {2, 2}> { y = Resize <mode = "linear"> '
        "(x, , s) }", "resized-rank", "rank:Resize.2", "reject", "left to the CPU", Q),
    Yes("(float[1,2,9,9] x) => (float[1,2,3,3] y) { y = MaxPool <kernel_shape = [2,2], strides = "
        "[3,3], ceil_mode = 1> (x) }", "window-in-the-padding", "attr:MaxPool.ceil_mode", "reject",
        "left to the CPU", Q),
    Yes("(float16[2] x) => (bool[2] y) { y = Cast <to = 9> (x) }", "cast-between",
        "dtype:Cast.float16", "reject", "left to the CPU", Q),
    Yes("(int16[2] x) => (float[2] y) { y = Cast <to = 1> (x) }", "cast-between",
        "dtype:Cast.int16", "reject", "left to the CPU", Q),
    Yes("(int64[2] x) => (bool[2] y) { y = Cast <to = 9> (x) }", "negatives-to-bool",
        "form:Cast.negatives", "note", "", Q),
    Yes("(float[2] x) => (float[2] y) <int64[2] a = {0, 1}, int64 z = {1}, float o = {0}> "
        "{ g = LessOrEqual (a, z) y = Where (g, x, o) }", "compared-constants", "op:LessOrEqual",
        "reject", "left to the CPU", Q, 14),
    Yes("(float[2,3] x) => (float y) <int64[2] i = {0, 1}> { y = GatherND (x, i) }",
        "gathered-by-many-axes", "rank:GatherND.1", "reject", "left to the CPU", Q),
    Yes("(int64[2,3] x) => (int64[2,3] y) <int64[2,1] i = {0, 1}> { y = GatherND (x, i) }",
        "gathered-int64", "dtype:GatherND.int64", "reject", "left to the CPU", Q),
    Yes("(float[2,2,2,3,4] x, float[1,2,2,4,5] w) => (float[2,2,2,3,5] y) { y = MatMul (x, w) }",
        "batches-repeated", "shape:MatMul.batches", "reject", "SIGSEGV", Q),
    Yes(X + "{ y = Clip <min = 0.0, max = 6.0> (x) }", "unclipped", "form:Clip.6", "wrong", "", Q,
        10),
    Yes("(float[2] x, bool c) => (float[2] y) <float[2] k = {1, 2}> { y = If (c) <then_branch = f "
        "() => (float[2] a) { a = Add (x, k) }, else_branch = g () => (float[2] b) "
        "{ b = Abs (x) }> }", "constants-of-the-outer-graph", "scope:outer-constant", "reject",
        "left to the CPU", Q),
    Yes("(double[2] x) => (float[2] y) { y = Cast <to = 1> (x) }", "stated-io-types",
        "io:float64-input", "reject", "", Q),
]  # fmt: skip

NO = [
    No(WINDOWS.format(b=1, perm="0,1,3,2,4,5"), "many-dimensions", Q),
    No("(float[32] x) => (float[2,2,2,2,2] y) <int64[5] s = {2,2,2,2,2}> { y = Reshape (x, s) }",
       "many-dimensions", Q),
    No(X + GELU + "m = Mul (x, a) y = Mul (m, half) }", "erf-alone", Q),
    No(X + GELU + "m = Mul (a, half) y = Mul (x, m) }", "erf-alone", Q),
    No(X + GELU + "m = Mul (x, half) y = Mul (m, a) }", "erf-alone", Q),
    No(POOL + "{ y = AveragePool <kernel_shape=[8,8]> (x) }", "window-beyond-the-input", Q),
    No(POOL + "{ y = AveragePool <kernel_shape=[2,2], strides=[2,2], ceil_mode=1> (x) }",
       "averaged-beyond-the-end", Q),
    No(POOL + "{ y = AveragePool <kernel_shape=[3,3], pads=[1,1,1,1]> (x) }",
        "averaged-padding", Q),
    No(X + "{ f = Floor (x) i = Cast <to = 6> (f) y = Cast <to = 1> (i) }", "cast-there-and-back",
       Q),
    No("(int64[2] x) => (int64[2] y) <int64 k = {6}> { y = Div (x, k) }", "divided-integers", Q),
    No("(int64[2] x) => (int64[2] y) <int64[2] k = {2, 2}> { y = Div (x, k) }",
       "divided-integers", Q),
    No("(int64[2] x) => (int64[2] y) { y = Div (x, x) }", "divided-integers", Q),
    No("(float[2] x) => (float[2] y) { y = Div (x, x) }", "divided-integers", Q),
    No("(int64[2,3] x) => (float[3,2] y) { z = Cast <to = 1> (x) y = Transpose (z) }",
       "transposed-int64", Q),
    No(POOL + "<float[4] s = {1, 1, 2, 2}> { y = Resize (x, , s) }", "nearest", Q),
    No(BATCHES.replace("[2,2,3,4,5] x", "[1,2,3,5,5] x") + "{ y = MatMul (w, x) }",
       "batches-by-a-constant", Q),
    No(GRU.format(more=""), "named-activations", Q),
    No(X + SIXTH + "y = Mul (h, x) }", "hard-swish-in-two", Q),
    No(X + SIXTH.replace("0.1666666716", "0.2") + "y = Mul (x, h) }", "hard-swish-in-two", Q),
    No(IMAGE.format("10,12") + "<float[4] s = {1, 1, 2, 2}> { y = Resize (x, , s) }",
       "nearest-of-other-places", Q),
    No(IMAGE.format("9,13") + '<int64[4] s = {1, 3, 9, 13}> { y = Resize <mode = "linear"> '
       "(x, , , s) }", "scale-of-the-sizes", Q),
    No(IMAGE.format("10,12") + "<float[4] s = {1, 1, 2, 2}> { y = Resize (x, s) }",
       "resize-of-opset-10", Q, 10),
    No("(uint8[2] x) => (float[2] y) { i = Cast <to = 6> (x) y = Cast <to = 1> (i) }",
       "bytes-as-bools", Q),
    No("(bool[2] x) => (float[2] y) { i = Cast <to = 2> (x) y = Cast <to = 1> (i) }",
       "bytes-as-bools", Q),
    No(X + "{ i = Cast <to = 6> (x) b = Cast <to = 9> (i) y = Cast <to = 1> (b) }",
       "cast-there-and-back", Q),
    No(POOL + "{ y = AveragePool <kernel_shape=[3,3], strides=[2,2], pads=[0,0,1,1]> (x) }",
       "averaged-padding", Q),
    No(POOL + "{ y = MaxPool <kernel_shape=[3,3], strides=[2,2], ceil_mode=1> (x) }",
       "measured-attribute", Q),
    No("(float[2] x, float[2] z) => (bool[2] y) { y = LessOrEqual (x, z) }", "compared-constants",
       Q, 14),
    No("(float[2] x, bool c) => (float[2] y) { y = If (c) <then_branch = f () => (float[2] a) "
       "{ a = Neg (x) }, else_branch = g () => (float[2] b) { b = Abs (x) }> }", "stated-operator",
       Q),
    No("(float[2,2,2,3,4] x, float[2,1,2,4,5] w) => (float[2,2,2,3,5] y) { y = MatMul (x, w) }",
       "batches-repeated", Q),
    No(X + "{ y = Clip (x) }", "unclipped", Q, 10),
    No(X + "<float low = {0}> { y = Clip (x, low) }", "unclipped", Q, 11),
    No("(float[2] x, bool c) => (float[2] y) { y = If (c) <then_branch = f () => (float[2] a) "
       "{ a = Neg (x) }, else_branch = g () => (float[2] b) { b = Abs (x) }> }",
       "constants-of-the-outer-graph", Q),
    No(EARLY, "stated-operator", Q),
    No(LATE, "stated-constant", Q),
]  # fmt: skip


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule} {case.feature}")
def test_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: case.rule)
def test_no(case: No) -> None:
    assert_no(case)


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("left to the CPU: Acosh('b'), Det('c')", ("Acosh", "b")),
        ("Failed to finalize QNN graph.", ("", "")),
    ],
)
def test_what_a_message_names(said: str, named: tuple[str, str]) -> None:
    assert engine_of("qnn").blamed(said) == named


@pytest.mark.parametrize(("batch", "order"), [(2, "0,1,3,2,4,5"), (1, "1,0,3,2,4,5")])
def test_windows_of_several_batches_keep_their_six_axes(batch: int, order: str) -> None:
    found = check(model_of(WINDOWS.format(b=batch, perm=order), 17), Q)
    assert {f.feature for f in found if f.rule == "many-dimensions"} == {
        "rank:Reshape.6",
        "rank:Transpose.6",
    }


def test_a_deep_chain_is_walked_without_recursion() -> None:
    chain = " ".join(f"t{n + 1} = Abs (t{n})" for n in range(1500))
    graph = f"(float[2] x) => (float[2] y) {{ t0 = Neg (x) {chain} y = Sinh (t1500) }}"
    assert [f.feature for f in check(model_of(graph), Q) if f.blocks] == ["op:Sinh"]
    early = f"(float[2] x) => (float[2] y) <int64[2] t0 = {{1, 2}}> {{ {chain} c = Cast <to = 1> "
    found = check(model_of(early + "(t1500) s = Sinh (c) y = Add (s, x) }"), Q)
    assert not [
        f.feature for f in found if f.blocks
    ]  # onnxruntime folds what is constant, Sinh too
