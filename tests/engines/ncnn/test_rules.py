"""The rules of ncnn."""

from __future__ import annotations

from math import prod

import pytest

from tests.engines.cases import (
    No,
    Unknown,
    Yes,
    assert_no,
    assert_unknown,
    assert_yes,
    check,
    model_of,
)
from tests.engines.ncnn.graphs import IMAGE, T, X, yes

TOKEN = (
    "(float[{b},1,2,2] x) => (float[A,B,C,D] y) <float[1,1,1,1] w = {{2.0}}, int64[4] s ="
    " {{{b}, 1, 2, 1}}> {{ t = ConstantOfShape (s) c = Conv (x, w)"
    " y = Concat <axis = 3> (t, c) }}"
)
ROTATED = (
    "(float[{x}] x) => (float[{x}] y) <int64[1] z = {{0}}, int64[1] h = {{4}}, int64[1] n = {{8}},"
    " int64[1] a = {{3}}, float[{table}] c = {{{numbers}}}> {{ b = Slice (x, h, n, a)"
    " d = Slice (x, z, h, a)"
    " e = Neg (b) j = Concat <axis = -1> (e, d) p = Mul (x, c) q = Mul (j, c) y = Add (p, q) }}"
)


def rotated(x: str, table: str = "1,1,5,8") -> str:
    numbers = ", ".join(["2.0"] * prod(map(int, table.split(","))))
    return ROTATED.format(x=x, table=table, numbers=numbers)


NORM = (
    "(float[2,3] x, float[2,3] z) => (float[2,3] y) <float e = {{1e-12}}, int64[2] s = {{2, 3}}>"
    " {{ n = ReduceL2 <axes = [1], keepdims = 1> (x) c = Clip {} d = Expand (c, s) y = Div {} }}"
)


def masked(batches: int, order: str = "(t, m)") -> str:
    numbers = ", ".join(["0.5"] * (36 * batches))
    return (
        "(float[3,2,6,4] q, float[3,2,4,6] k, float[3,2,6,4] v) => (float[3,2,6,4] y)"
        f" <float c = {{0.5}}, float[{batches},1,6,6] m = {{{numbers}}}> {{ r = Mul (q, c)"
        f" l = Mul (k, c) t = MatMul (r, l) u = Add {order} p = Softmax <axis = -1> (u)"
        " y = MatMul (p, v) }"
    )


YES = [
    yes(
        "(float[2] x) => (float[2] y, float[2] x) { y = Exp (x) }",
        "output-without-a-layer",
        "io:constant-output",
    ),
    yes(
        X + "<float[2] k = {1.0, 2.0}> { y = Neg (k) }",
        "output-without-a-layer",
        "io:constant-output",
    ),
    yes(
        X + "<int64[1] a = {1}> { y = ReduceSum (x, a) }",
        "axes-as-input",
        "form:ReduceSum.axes-input",
        "wrong",
    ),
    yes(
        X + "{ y = Softmax <axis = 0> (x) }",
        "softmax-of-joined-axes",
        "form:Softmax.flattened",
        "wrong",
        11,
    ),
    yes(
        X + "<int64[2] i = {0, 2}> { y = Gather <axis = 1> (x, i) }",
        "gather-by-several",
        "form:Gather.indices",
        "wrong",
    ),
    yes(
        "(float[2,3] x, int64[1] i) => (float[A,B] y) { y = Gather (x, i) }",
        "gather-by-computed",
        "const:Gather.indices",
    ),
    yes(X + "{ y = Max (x, x, x) }", "extremes-of-several", "form:Max.inputs", "wrong"),
    yes(
        NORM.format("(n, e)", "(x, d)"),
        "division-by-expanded-norm",
        "form:Div.expanded-norm",
        "wrong",
    ),
    yes(
        X + "<int64[1] s = {0}, int64[1] e = {3}, int64[1] a = {1}, int64[1] t = {2}> "
        "{ y = Slice (x, s, e, a, t) }",
        "slice-with-steps",
        "form:Slice.steps",
    ),
    yes(
        "(float[4,3] x) => (float[A,B] y, float[A,B] z) { y, z = Split <axis = 0> (x) }",
        "split-in-equal-parts",
        "form:Split.uneven",
    ),
    yes(
        "(float[2,1,2,1,2] x) => (float[A,B,C,D,E] y) "
        "{ y = Transpose <perm = [4, 3, 2, 1, 0]> (x) }",
        "axes-of-five",
        "rank:Transpose.5",
        "wrong",
    ),
    yes(
        "(float[1,3,4] x, float[3] s, float[3] b) => (float[1,3,4] y) "
        "{ y = InstanceNormalization (x, s, b) }",
        "normalization-of-rows",
        "rank:InstanceNormalization.3",
    ),
    yes(
        "(float[2,4] x, float[4] s) => (float[2,4] y) { y = LayerNormalization (x, s) }",
        "normalization-without-bias",
        "form:LayerNormalization.no-bias",
        opset=17,
    ),
    yes(
        "(float[2,3] x) => (float y) <int64[2] a = {0, 1}> { y = ReduceSum <keepdims = 0> (x, a) }",
        "axes-as-input",
        "form:ReduceSum.axes-input",
        "wrong",
    ),
    yes(
        X + "<int64[1] s = {-1}, int64[1] e = {-4}, int64[1] a = {1}> "
        "{ y = Slice (x, s, e, a, s) }",
        "slice-with-steps",
        "form:Slice.steps",
        "wrong",
    ),
    yes(
        X + "<int64[1] a = {1}> { y = ReduceMax (x, a) }",
        "axes-as-input",
        "form:ReduceMax.axes-input",
        opset=18,
    ),
    yes(TOKEN.format(b=2), "constant-of-several-batches", "form:Concat.constant", "wrong"),
    yes(
        IMAGE + "{ y = ReduceMax <axes = [2, 3]> (x) }",
        "extremes-over-several-axes",
        "attr:ReduceMax.axes",
    ),
    yes(
        X + "<float k = {3.0}> { y = Pow (x, k) }",
        "power-of-what-may-be-negative",
        "form:Pow.negative",
        "wrong",
    ),
    yes(
        "(float[2,4,8] x) => (float[A,B,C,D,E] y) <int64[5] s = {1,2,2,2,8}> "
        "{ y = Reshape (x, s) }",
        "reshape-to-five-axes",
        "rank:Reshape.5",
    ),
    yes(
        "(float[1,2,3,4,5] x) => (float[A,B,C,D] y) <int64[4] s = {1,6,4,5}> "
        "{ y = Reshape (x, s) }",
        "input-of-five-axes",
        "rank:input.5",
    ),
    yes(
        "(float[1,2,3,4,5] x) => (float[A,B,C,D,E] y) { y = Exp (x) }",
        "input-of-five-axes",
        "rank:input.5",
    ),
    yes(
        "(float[2,4,2,2,8] x) => (float[A,B] y) <int64[2] s = {8,32}> { y = Reshape (x, s) }",
        "input-of-five-axes",
        "rank:input.5",
    ),
    yes(
        "(float[1,1,3,3] x, float[1,2,2,2] g) => (float[1,1,2,2] y) "
        '{ y = GridSample <mode = "cubic"> (x, g) }',
        "grid-reflected-or-cubic",
        "attr:GridSample.mode=cubic",
        "wrong",
        20,
    ),
    yes(rotated("1,1,5,8", "1,1,1,8"), "rotation-of-halves", "form:Add.rotation", "wrong"),
    yes(rotated("1,2,5,8"), "rotation-of-halves", "form:Add.rotation", "wrong"),
    yes(masked(3), "mask-of-several-batches", "form:Add.mask", "wrong"),
]

NO = [
    No(NORM.format("(n, e)", "(z, d)"), "division-by-expanded-norm", T, 13),
    No(NORM.format("(n, e, e)", "(x, d)"), "division-by-expanded-norm", T, 13),
    No(TOKEN.format(b=1), "constant-of-several-batches", T, 13),
    No(
        "(float[1,2,3,4,5] x) => (float[A,B,C,D] y) <int64[4] s = {1,6,4,5}> "
        "{ r = Reshape (x, s) y = GlobalAveragePool (r) }",
        "reshape-to-five-axes",
        T,
    ),
    No(
        "(float[1,6,4,5] x) => (float[A,B,C,D] y) <int64[5] s = {1,2,3,4,5}, int64[4] e = "
        "{1,6,4,5}> { r = Reshape (x, s) t = Transpose <perm = [0, 2, 1, 3, 4]> (r)"
        " y = Reshape (t, e) }",
        "reshape-to-five-axes",
        T,
    ),
    No(
        "(float[1,2,3,4,5] x) => (float[A,B,C,D,E] y) { y = GlobalAveragePool (x) }",
        "input-of-five-axes",
        T,
    ),
    No(rotated("1,1,5,8"), "rotation-of-halves", T, 13),
    No(rotated("1,2,5,8").replace("(p, q)", "(q, p)"), "rotation-of-halves", T, 13),
    No(masked(1), "mask-of-several-batches", T, 13),
    No(masked(3, "(m, t)"), "mask-of-several-batches", T, 13),
    No(
        "(float[1,1,3,3] x, float[1,2,2,2] g) => (float[1,1,2,2] y) "
        '{ y = GridSample <mode = "bicubic"> (x, g) }',
        "grid-reflected-or-cubic",
        T,
        16,
    ),
    No(X + "{ y = ReduceMean <axes = [1]> (x) }", "axes-as-input", T, 13),
    No(X + "<int64[2] a = {0, 1}> { y = ReduceMean (x, a) }", "axes-as-input", T, 18),
    No(
        X + "<int64[1] s = {-1}, int64[1] e = {-9223372036854775807}, int64[1] a = {1}> "
        "{ y = Slice (x, s, e, a, s) }",
        "slice-with-steps",
        T,
    ),
    No(X + "{ y = Softmax <axis = 1> (x) }", "softmax-of-joined-axes", T, 11),
    No(IMAGE + "{ y = ReduceMax <axes = [2]> (x) }", "extremes-over-several-axes", T, 13),
    No(X + "<float k = {2.0}> { y = Pow (x, k) }", "power-of-what-may-be-negative", T),
    No(
        "(float[1,4,8] x) => (float[A,B,C,D,E] y) <int64[5] s = {1,2,2,2,4}> "
        "{ r = Reshape (x, s) y = GlobalMaxPool (r) }",
        "reshape-to-five-axes",
        T,
    ),
    No(X + "{ y = Max (x, x) }", "extremes-of-several", T),
    No(X + "{ y = Floor (x) }", "whole-part-of-a-quotient", T),
    No(
        "(float[1,2,1,2,3] x) => (float[A,B,C,D,E] y) "
        "{ t = Transpose <perm = [0, 3, 2, 1, 4]> (x) y = GlobalAveragePool (t) }",
        "axes-of-five",
        T,
    ),
    No(
        "(float[2,4] x, float[4] s) => (float[2,4] y) { y = LayerNormalization (x, s, s) }",
        "normalization-without-bias",
        T,
    ),
]

UNKNOWN = [
    Unknown(
        "(float[1,1,3,3] x, float[1,2,2,2] g) => (float[1,1,2,2] y) "
        '{ y = GridSample <padding_mode = "reflection"> (x, g) }',
        "grid-reflected-or-cubic",
        "whether places lie more than an image outside",
        T,
        16,
    ),
    Unknown(
        X + "{ d = Div (x, x) a = Abs (d) y = Floor (a) }",
        "whole-part-of-a-quotient",
        "whether it divides exactly",
        T,
    ),
    Unknown(
        X + "<float k = {0.3}> { r = Relu (x) y = Pow (r, k) }",
        "power-of-zero",
        "whether the base is 0",
        T,
    ),
    Unknown(
        "(float[2,N] x) => (float[2,A] y, float[2,B] z)"
        " { y, z = Split <axis = 1, num_outputs = 2> (x) }",
        "split-in-equal-parts",
        "sizes of x",
        T,
        18,
    ),
    Unknown(
        "(float[2] x, int64[n] s) => (float y) { r = Reshape (x, s) y = ReduceMax (r) }",
        "reshape-to-five-axes",
        "rank of r",
        T,
    ),
    Unknown(
        "(float[2,3] x, int64[1] s) => (float[A,B] y) { y = Slice (x, s, s, s, s) }",
        "slice-with-steps",
        "values of s",
        T,
    ),
    Unknown(
        "(float x) => (float y) { a = NoSuch (x) y = Softmax (a) }",
        "axes-of-five",
        "rank of a",
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


def test_what_depends_on_sizes_alone_is_computed_by_pnnx() -> None:
    graph = (
        "(float[2,3] x) => (float[3,2] y) <int64[1] i = {0}, int64[1] j = {1}> { s = Shape (x)"
        " a = Gather (s, i) b = Gather (s, j) c = Concat <axis = 0> (b, a) y = Reshape (x, c) }"
    )
    assert [f.feature for f in check(model_of(graph), T) if f.blocks] == []
    open_sizes = graph.replace("float[2,3] x", "float[N,3] x")
    assert "op:Shape" in {f.feature for f in check(model_of(open_sizes), T) if f.blocks}
