from __future__ import annotations

import pytest

from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes

YES = [
    Yes(
        "(float[2,3] x) => (float[2,1] y) <int64[1] a = {1}> { y = ReduceMean (x, a) }",
        "reduce-axes-input",
        "form:ReduceMean.axes-input",
        "wrong",
        "",
        "trt8.6",
        18,
    ),
    Yes(
        "(float[2,3] x) => (float[2,3] y) { y = ReduceMax <noop_with_empty_axes = 1> (x) }",
        "reduce-noop",
        "form:ReduceMax.noop_with_empty_axes",
        "wrong",
        "",
        "trt8.6",
        18,
    ),
    Yes(
        "(float[2,3] x) => (float[2,1] y) <int64[1] a = {1}> { y = ReduceSum (x, a) }",
        "reduce-sum-axes-input",
        "form:ReduceSum.axes-input",
        "wrong",
        "",
        "trt7.2",
    ),
    Yes(
        "(float[2,3] x) => (float[2,1] y) <int64[1] a = {1}> { y = ReduceLogSumExp (x, a) }",
        "log-sum-exp-axes-input",
        "form:ReduceLogSumExp.axes-input",
        "wrong",
        "",
        "trt10.1",
        18,
    ),
]
NO = [
    No(
        "(float[2,3] x) => (float[1,1] y) <int64[2] a = {1, -2}> { y = ReduceMean (x, a) }",
        "reduce-axes-input",
        "trt8.6",
        18,
    ),
    No(
        "(float[2,3] x) => (float[2,1] y) { y = ReduceMean <axes = [1]> (x) }",
        "reduce-axes-input",
    ),
    No(
        "(float[2,3] x) => (float[2,1] y) <int64[1] a = {1}> { y = ReduceMean (x, a) }",
        "reduce-axes-input",
        "trt10.1",
        18,
    ),
]
UNKNOWN = [
    Unknown(
        "(float[2] x) => (float[2] y) { z = my.domain.Op (x) y = ReduceSum "
        "<noop_with_empty_axes = 1> (z) }",
        "reduce-noop",
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
