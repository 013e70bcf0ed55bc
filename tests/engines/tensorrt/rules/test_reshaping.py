from __future__ import annotations

import pytest

from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes

YES = [
    Yes(
        "(float[1,N] x) => (float[M] y) { y = Squeeze (x) }",
        "squeeze-dynamic",
        "form:Squeeze.no-axes",
        "reject",
        "Cannot infer squeeze dimensions",
    ),
    Yes(
        "(float[2] x) => (float[1,2] y) <int64[1] a = {0}> { y = Unsqueeze (x, a) }",
        "axes-as-attribute",
        "form:Unsqueeze.axes-input",
        "reject",
        "Attribute not found: axes",
        "trt7.2",
    ),
    Yes(
        "(float[2,3] x) => (int64[1] y) { y = Shape <start = 1> (x) }",
        "shape-part",
        "form:Shape.start-end",
        "wrong",
    ),
    Yes(
        "(float[2,3] x) => (int64[1] y) { y = Shape <start = 1> (x) }",
        "shape-part",
        "form:Shape.start-end",
        "wrong",
        target="trt6",
    ),
    Yes(
        "(float[N,2] x) => (float[N,2] y) { y = EyeLike (x) }",
        "eye-like-shape",
        "shape:EyeLike.dynamic",
        "reject",
        "dynamically shaped",
    ),
    Yes(
        "(float[2,3] x) => (float[2] y) <int64[1] a = {1}> { y = Squeeze (x, a) }",
        "squeeze-size",
        "shape:Squeeze.not-1",
        "reject",
        "change volume",
    ),
    Yes(
        "(float[2,3] x) => (float[4] y) <int64[1] s = {4}> { y = Reshape (x, s) }",
        "reshape-volume",
        "rank:Reshape.volume",
        "reject",
        "change volume",
    ),
]
NO = [
    No(
        "(float[1,2] x) => (float[2] y) { y = Squeeze (x) }",
        "squeeze-dynamic",
    ),
    No(
        "(float[2,3] x) => (int64[2] y) { y = Shape <start = 0> (x) }",
        "shape-part",
    ),
    No(
        "(float[2,3] x) => (int64[1] y) { y = Shape <start = 1> (x) }",
        "shape-part",
        "trt10.1",
    ),
    No(
        "(float[2,3] x) => (float[3,2] y) <int64[2] s = {-1, 2}> { y = Reshape (x, s) }",
        "reshape-volume",
    ),
    No(
        "(float[N,3] x) => (float[M,2] y) <int64[2] s = {-1, 2}> { y = Reshape (x, s) }",
        "reshape-volume",
    ),
]
UNKNOWN = [
    Unknown(
        "(float[2] x) => (int64[1] y) { z = my.domain.Op (x) y = Shape <end = 1> (z) }",
        "shape-part",
        "rank of z",
    ),
]


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule}-{case.feature}-{case.target}")
def test_says_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: f"{case.rule}-{case.target}-{case.opset}")
def test_says_nothing(case: No) -> None:
    assert_no(case)


@pytest.mark.parametrize("case", UNKNOWN, ids=lambda case: case.rule)
def test_does_not_know(case: Unknown) -> None:
    assert_unknown(case)
