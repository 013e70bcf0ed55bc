from __future__ import annotations

import pytest

from tests.rules.cases import No, Yes, assert_no, assert_yes

YES = [
    Yes(
        "(bool c, float[1,2] x) => (float[M] y) <int64[1] a = {0}> { y = If (c) "
        "<then_branch = t () => (float[2] p) { p = Squeeze (x, a) }, else_branch = e () => "
        "(float[1,2] q) { q = Relu (x) }> }",
        "if-shapes",
        "shape:If.branches",
        "reject",
        "Shapes are [2] and [1, 2]",
    ),
    Yes(
        "(bool c, float[2] x) => (float[2] y) { y = If (c) <then_branch = t () => (float[2] "
        "p) { p = Abs (x) }, else_branch = e () => (float[2] q) { q = Relu (x) }> }",
        "if-condition",
        "const:If.cond",
        "reject",
        "must be a initializer",
        "trt7.2",
    ),
    Yes(
        "(int64[2] n, float[2] x) => (float[2] y) { y = Loop (n, , x) <body = b (int64 i, "
        "bool c, float[2] p) => (bool d, float[2] q) { d = Identity (c) q = Relu (p) }> }",
        "loop-trip-count",
        "form:Loop.scan-without-trip-count",
        "reject",
        "trip-count",
    ),
]
NO = [
    No(
        "(bool c, float[2] x) => (float[2] y) { y = If (c) <then_branch = t () => (float[2] "
        "p) { p = Abs (x) }, else_branch = e () => (float[2] q) { q = Relu (x) }> }",
        "if-shapes",
    ),
    No(
        "(int64 n, float[2] x) => (float[2] y) { y = Loop (n, , x) <body = b (int64 i, bool "
        "c, float[2] p) => (bool d, float[2] q) { d = Identity (c) q = Relu (p) }> }",
        "loop-trip-count",
    ),
]


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule}-{case.feature}-{case.target}")
def test_says_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: f"{case.rule}-{case.target}-{case.opset}")
def test_says_nothing(case: No) -> None:
    assert_no(case)
