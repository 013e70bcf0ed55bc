"""The rules of tract, and what its messages name."""

from __future__ import annotations

import pytest

from graphfix.engines.engine import engine_of
from tests.engines.cases import (
    No,
    Yes,
    assert_no,
    assert_yes,
    check,
    model_of,
)

T = "tract0.23"
BRANCHES = (
    "(float[2,3] x, bool c) => (float[A,B] y) {{ y = If (c) <then_branch = a () => (float[2,3] p) "
    "{{ p = Neg (x) }}, else_branch = b () => (float{} q) {{ q = {} (x) }}> }}"
)

TWO = (
    "(float[2] x, bool c) => (float[2] y) { a = If (c) <then_branch = t () => (float[2] p) "
    "{ p = Neg (x) }, else_branch = e () => (float[2] q) { q = Abs (x) }> "
    "y = If (c) <then_branch = u () => (float[2] r) { r = Neg (a) }, else_branch = v () => "
    "(float[2] s) { s = Abs (a) }> }"
)

YES = [
    Yes(TWO, "second-if", "op:If", "reject", "Duplicate node name: If", T),
    Yes(
        "(float[1,8,1] x, int64 n) => (float[1,a,2] y) { y = DFT <axis = 1> (x, n) }",
        "transform-of-a-length",
        "op:DFT",
        "wrong",
        "",
        T,
    ),
    Yes(
        "(float[N] x) => (float[N] y) <float[N] a> { a = Exp (x) y = Neg (a) }",
        "declared-symbols",
        "shape:declared-symbols",
        "reject",
        "Impossible to unify",
        T,
    ),
    Yes(
        "(float16[2,3] x, float16[3,2] w, float16[2] c) => (float16[2,2] y) { y = Gemm (x, w, c) }",
        "gemm-bias",
        "dtype:Gemm.float16",
        "reject",
        "F16",
        T,
        11,
    ),
    Yes(
        "(float[6] x, int64[2] s) => (float[A,B] y) { y = Reshape (x, s) }",
        "parameter-known-late",
        "const:Reshape.shape",
        "reject",
        "shape input is variable",
        T,
    ),
    Yes(
        "(float[6] x) => (float[A] y) { n = NonZero (x) m = Shape (n) s = Slice (m, i, j) "
        "y = Expand (x, s) }".replace("{ n", "<int64[1] i = {1}, int64[1] j = {2}> { n"),
        "parameter-known-late",
        "const:Expand.shape",
        "reject",
        "shape input is variable",
        T,
    ),
    Yes(  # the count of something else
        "(float[6] x) => (int64[A,B] y) { r = Relu (x) n = NonZero (x) o = NonZero (r) "
        "s = Shape (o) y = Reshape (n, s) }",
        "parameter-known-late",
        "const:Reshape.shape",
        "reject",
        "shape input is variable",
        T,
    ),
    Yes(  # a product by a reduction
        "(float[6] x) => (int64[A] y) { n = NonZero (x) s = Shape (n) "
        "p = ReduceProd <axes = [0]> (s) y = Reshape (n, p) }",
        "parameter-known-late",
        "const:Reshape.shape",
        "reject",
        "shape input is variable",
        T,
    ),
    Yes(  # an end may lie after the last, which ends tract
        "(float[6] x) => (int64[A,B] y) <int64[1] i = {1}, int64[1] j = {2}, int64[1] z = {0}> "
        "{ n = NonZero (x) s = Shape (n) e = Slice (s, i, j) y = Slice (n, z, e, i) }",
        "parameter-known-late",
        "const:Slice.ends",
        "reject",
        "shape input is variable",
        T,
    ),
    Yes(
        "(float[6] x, float s) => (uint8[6] y) { y = QuantizeLinear (x, s) }",
        "parameter-known-late",
        "const:QuantizeLinear.y_scale",
        "reject",
        "y_scale must be a const",
        T,
    ),
    Yes(
        BRANCHES.format("[3,2]", "Transpose <perm = [1, 0]>"),
        "branches-of-unlike-shapes",
        "shape:If.branches",
        "reject",
        "Impossible to unify",
        T,
    ),
    Yes(
        "(float[3] x) => (float[2] y) <int64[2] p = {-1, 0}> { y = Pad (x, p) }",
        "negative-padding",
        "form:Pad.negative",
        "reject",
        "",
        T,
    ),
]

NO = [
    No(BRANCHES.format("[2,3]", "Abs"), "second-if", T),
    No(
        "(float[1,8,1] x) => (float[1,8,2] y) { y = DFT <axis = 1> (x) }",
        "transform-of-a-length",
        T,
    ),
    No(
        "(float[2] x) => (float[2] y) <float[2] a> { a = Exp (x) y = Neg (a) }",
        "declared-symbols",
        T,
    ),
    No(
        "(float16[2,3] x, float16[3,2] w) => (float16[2,2] y) { y = Gemm (x, w) }",
        "gemm-bias",
        T,
        11,
    ),
    No(
        "(float[6] x) => (int64[A,B] y) <int64[1] m = {-1}> { n = NonZero (x) s = Shape (n) "
        "u = Concat <axis = 0> (s, m) y = Reshape (n, u) }",
        "parameter-known-late",
        T,
    ),
    No(
        "(float[1,9,4] x, float[1,1,9] c) => (int64[A,B] y) <int64 k = {3}, int64[1] i = {0}, "
        "int64[1] m = {-1}> { n = NonMaxSuppression (x, c, k) s = Shape (n) g = Gather (s, i) "
        "u = Concat <axis = 0> (g, m) y = Reshape (n, u) }",
        "parameter-known-late",
        T,
    ),
    No(
        "(float[6] x) => (int64[A,B] y) { n = NonZero (x) o = Max (n) s = Shape (o) "
        "y = Expand (n, s) }",
        "parameter-known-late",
        T,
    ),
    No(
        "(float[A,3] x) => (float[B,C] y) <int64[1] m = {-1}> { s = Shape (x) t = Slice (s, m, e) "
        "u = Concat <axis = 0> (t, m) y = Reshape (x, u) }".replace(
            "{-1}>", "{-1}, int64[1] e = {9}>"
        ),
        "parameter-known-late",
        T,
    ),
    No(BRANCHES.format("[2,3]", "Exp"), "branches-of-unlike-shapes", T),
    No(
        "(float[3] x) => (float[4] y) <int64[2] p = {1, 0}> { y = Pad (x, p) }",
        "negative-padding",
        T,
    ),
]


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule} {case.feature}")
def test_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize(
    ("size", "read"),
    [
        ("N", True),
        ("s71", True),
        ("(N)", True),
        ("2*N", True),
        ("N/2", True),
        ("N + 1", True),
        ("N//2", False),
        ("(s71//2)", False),
        ("N*M", False),
        ("Mod(N, 4)", False),
        ("unk__0", False),
        ("", False),
    ],
)
def test_declared_sizes_that_tract_reads(size: str, read: bool) -> None:
    model = model_of("(float[6] x) => (float[6] y) <float[6] a> { a = Exp (x) y = Neg (a) }")
    dim = model.graph.value_info[0].type.tensor_type.shape.dim[0]
    dim.dim_param = size
    if not size:
        dim.Clear()
    rules = [finding.rule for finding in check(model, T)]
    assert ("declared-symbols" in rules) == read


@pytest.mark.parametrize(
    ("length", "wrong"), [("8", False), ("4", True), ("16", True)], ids=["its own", "less", "more"]
)
def test_transforms_of_a_length_of_their_own(length: str, wrong: bool) -> None:
    graph = (
        f"(float[1,8,1] x) => (float[a,b,c] y) <int64 n = {{{length}}}>"
        "{ y = DFT <axis = 1> (x, n) }"
    )
    rules = [finding.rule for finding in check(model_of(graph), T)]
    assert ("transform-of-a-length" in rules) == wrong


@pytest.mark.parametrize("case", NO, ids=lambda case: case.rule)
def test_no(case: No) -> None:
    assert_no(case)


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ('analyse: Failed analyse for node #8 "node_arange" Range Caused by', ("", "node_arange")),
        ('Translating node #5 "/Loop" Unimplemented(Loop) ToTyped', ("Loop", "/Loop")),
        ('Evaluating #18 "node_Equal" Eq Caused by', ("", "node_Equal")),
        (
            "parse: Building node Attention_1 (MultiHeadAttention)",
            ("MultiHeadAttention", "Attention_1"),
        ),
        ("something else", ("", "")),
    ],
)
def test_what_a_message_names(said: str, named: tuple[str, str]) -> None:
    assert engine_of("tract").blamed(said) == named
