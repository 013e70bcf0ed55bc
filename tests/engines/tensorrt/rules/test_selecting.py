from __future__ import annotations

import pytest

from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes

NMS = (
    "(float[1, 5, 4] b, float[1, 1, 5] s) => (int64[n, 3] y) <int64[1] k = {3}> "
    "{ y = NonMaxSuppression (b, s, k) }"
)
YES = [
    Yes(
        "(float[9] x, int64[1] k) => (float[N] y, int64[N] i) { y, i = TopK (x, k) }",
        "topk-k-constant",
        "const:TopK.K",
        "reject",
        "input K as an initializer",
        "trt8.5",
    ),
    Yes(
        "(float[9000] x) => (float[N] y, int64[N] i) <int64[1] k = {4000}> { y, i = TopK (x, k) }",
        "topk-size",
        "attr:TopK.k",
        "builder",
        "3840",
    ),
    Yes(
        "(float a) => (float[N] y) { y = Range (a, a, a) }",
        "range-dynamic",
        "dtype:Range.float32",
        "reject",
        "only supports INT32",
        "trt8.2",
    ),
    Yes(
        "(bool[2] c) => (bool[2] y) { y = Where (c, c, c) }",
        "where-of-bool",
        "dtype:Where.bool",
        "reject",
        "Where operators",
        "trt8.4",
    ),
    Yes(
        "() => (double[2] y) { y = RandomUniform <shape = [2], dtype = 11> () }",
        "random-type",
        "dtype:RandomUniform.float64",
        "reject",
        "Unsupported data type",
    ),
    Yes(NMS, "nms-rows-filled", "rank:NonMaxSuppression.filled", "wrong", "", "trt8.4"),
    Yes(
        NMS.replace("float[1, 1, 5] s", "float[1, 2, 5] s"),
        "nms-candidates",
        "rank:NonMaxSuppression.candidates",
        "note",
        "",
        "trt11",
    ),
    Yes(
        NMS.replace("5", "2001"),
        "nms-candidates",
        "rank:NonMaxSuppression.candidates",
        "note",
    ),
]
NO = [
    No(NMS, "nms-candidates"),
    No(NMS, "nms-rows-filled"),
    No(
        "(float[9] x, int64[1] k) => (float[N] y, int64[N] i) { y, i = TopK (x, k) }",
        "topk-k-constant",
    ),
    No(
        "(bool[2] c) => (bool[2] y) { y = Where (c, c, c) }",
        "where-of-bool",
    ),
]
UNKNOWN = [
    Unknown(
        "(float[9000] x, int64[1] k) => (float[N] y, int64[N] i) { y, i = TopK (x, k) }",
        "topk-size",
        "value of k",
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
