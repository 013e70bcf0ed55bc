from __future__ import annotations

import pytest

from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes

YES = [
    Yes(
        '(float[2,3] x) => (float[3,2] y) { y = Einsum <equation = "aB->Ba"> (x) }',
        "einsum-characters",
        "attr:Einsum.equation",
        "reject",
        "Invalid character",
        "trt10.1",
    ),
    Yes(
        "(float[2,2,2] x) => (float[2,2,2] y) { y = Gemm (x, x) }",
        "gemm-rank",
        "rank:Gemm.3",
        "reject",
        "GEMM must have 2D inputs!",
    ),
    Yes(
        "(float[2] x, float[3,2,4] w) => (float[3,4] y) { y = MatMul (x, w) }",
        "matmul-vector",
        "rank:MatMul.1",
        "reject",
        "change volume",
    ),
    Yes(
        "(float[2] x, float[3,2,4] w) => (float[3,4] y) { y = MatMul (x, w) }",
        "matmul-vector",
        "rank:MatMul.1",
        "reject",
        "change volume",
        "trt10.1",
    ),
    Yes(
        '(float[2,2] x) => (float[2,2] y) { y = Einsum <equation = "Ab,bC->AC"> (x, x) }',
        "einsum-characters",
        "attr:Einsum.equation",
        "reject",
        "Invalid character(s) in Einsum equation: A,C,A,C",
    ),
    Yes(
        '(float[2,2] x) => (float[2,2] y) { y = Einsum <equation = "...b,bc->...c"> (x, x) }',
        "einsum-form",
        "attr:Einsum.ellipsis",
        "builder",
    ),
    Yes(
        '(float[2,1] x, float[3,4] z) => (float[2,4] y) { y = Einsum <equation = "ab,bc"> (x, z) }',
        "einsum-form",
        "attr:Einsum.broadcast",
        "builder",
    ),
]
NO = [
    No(
        "(float[2] x, float[2,4] w) => (float[4] y) { y = MatMul (x, w) }",
        "matmul-vector",
    ),
    No(
        '(float[2,2] x) => (float[2,2] y) { y = Einsum <equation = "ab,bc->ac"> (x, x) }',
        "einsum-characters",
    ),
]
UNKNOWN = [
    Unknown(
        "(float[2] x) => (float[2] y) { z = my.domain.Op (x) y = Gemm (z, z) }",
        "gemm-rank",
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
