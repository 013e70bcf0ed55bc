from __future__ import annotations

import pytest

from tests.engines.cases import No, Yes, assert_no, assert_yes

YES = [
    Yes(
        "(float[2] x) => (float[2] y) { y = Clip (x, , x) }",
        "omitted-input",
        "form:omitted-input",
        "reject",
        "tensors.count",
        "trt6-fulldims",
        11,
    ),
    Yes(
        "(float[1,1,4,4] x) => (float[A,B,C,D] y) <float[4] s = {1, 1, 2, 2}, float[0] r = "
        "{}> { y = Resize (x, r, s) }",
        "empty-constant",
        "form:empty-constant",
        "reject",
        "inputName",
        "trt7.0",
        11,
    ),
    Yes(
        "(float[1,2,3,4,5] x) => (float[1,2,3,4,5] y) { y = Relu (x) }",
        "implicit-batch-rank",
        "rank:input.5",
        "reject",
        "nbDims <= 3",
        "trt6",
        10,
    ),
    Yes(
        "(float[2,3] x) => (float[1,3] y) <int64[1] i = {0}> { y = Gather (x, i) }",
        "batch-axis",
        "attr:Gather.batch-axis",
        "reject",
        "axis >= 0",
        "trt6",
        10,
    ),
    Yes(
        "(float[2,3] x) => (float[3,2] y) { y = Transpose <perm = [1, 0]> (x) }",
        "transpose-batch",
        "attr:Transpose.batch-axis",
        "reject",
        "BATCH_DIM",
        "trt6",
        10,
    ),
    Yes(
        "(float[2] x) => (int64[2] y) { y = Cast <to = 7> (x) }",
        "cast-from-half-only",
        "dtype:Cast.int64",
        "reject",
        "kHALF",
        "trt6-fulldims",
        10,
    ),
    Yes(
        "(float[4] x, int64[1] s) => (float[N] y) { y = Slice (x, s, s) }",
        "slice-bounds",
        "const:Slice.starts",
        "reject",
        "is_weights",
        "trt6-fulldims",
        10,
    ),
    Yes(
        "(float[2] x) => (float[2] y) { y, m = Dropout (x) }",
        "dropout-mask",
        "form:Dropout.mask",
        "reject",
        "getOpsetVersion",
        "trt7.0",
        10,
    ),
]
NO = [
    No(
        "(float[2] x) => (float[2] y) { y = Clip (x, , x) }",
        "omitted-input",
        "trt7.0",
        11,
    ),
    No(
        "(float16[2] x) => (float[2] y) { y = Cast <to = 1> (x) }",
        "cast-from-half-only",
        "trt6-fulldims",
        10,
    ),
    No(
        "(float[2,3] x) => (float[2,1] y) <int64[1] i = {0}> { y = Gather <axis = 1> (x, i) }",
        "batch-axis",
        "trt6",
        10,
    ),
]


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule}-{case.feature}-{case.target}")
def test_says_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: f"{case.rule}-{case.target}-{case.opset}")
def test_says_nothing(case: No) -> None:
    assert_no(case)
