from __future__ import annotations

import pytest

from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes

YES = [
    Yes(
        "(float[2,2] x) => (float[2,2] y) <float[2] s = {1, 2}, float[2] b = {1, 2}> "
        "{ y = InstanceNormalization (x, s, b) }",
        "normalization-rank",
        "rank:InstanceNormalization.2",
        "reject",
        "at least 3D",
        "trt10.1",
    ),
    Yes(
        "(float[2,2] x) => (float[2,2] y) { y = Dropout <is_test = 0> (x) }",
        "dropout-in-training",
        "attr:Dropout.is_test",
        "reject",
        "training mode",
        opset=6,
    ),
    Yes(
        "(bfloat16[2,2] x) => (bfloat16[2,2] y) { y = LpNormalization (x) }",
        "normalization-type",
        "dtype:LpNormalization.bfloat16",
        "reject",
        target="trt10.1",
        opset=22,
    ),
    Yes(
        "(float[2,3] x, float[3] s) => (float[2,3] y) { y, m = LayerNormalization (x, s) }",
        "normalization-outputs",
        "form:LayerNormalization.outputs",
        "reject",
        "more output tensors than TRT expected",
    ),
    Yes(
        "(float[2] x) => (float[2] y) <float r = {0.5}, bool t = {1}> { y = Dropout (x, r, t) }",
        "dropout-training",
        "attr:Dropout.training_mode",
        "reject",
        "in training mode",
    ),
    Yes(
        "(float[2] x, bool t) => (float[2] y) <float r = {0.5}> { y = Dropout (x, r, t) }",
        "dropout-training",
        "const:Dropout.training_mode",
        "reject",
        "as an initializer",
    ),
    Yes(
        "(float[1,4,2] x, float[4] s) => (float[1,4,2] y) { y = GroupNormalization "
        "<num_groups = 2> (x, s, s) }",
        "group-norm-scale",
        "form:GroupNormalization.per-channel",
        "builder",
        "num_groups",
        "trt8.6",
        21,
    ),
    Yes(
        "(int32[1,2,2,2] x) => (int32[1,2,2,2] y) { y = MeanVarianceNormalization (x) }",
        "normalization-type",
        "dtype:MeanVarianceNormalization.int32",
        "reject",
        "Only float/half",
    ),
    Yes(
        "(float[2,3,4] x) => (float[2,3,4] y) { y = Softmax <axis = 1> (x) }",
        "softmax-13",
        "form:Softmax.opset13",
        "wrong",
        "",
        "trt7.2",
        13,
    ),
]
NO = [
    No(
        "(float[2] x) => (float[2] y) { y = Dropout <is_test = 1> (x) }",
        "dropout-in-training",
        opset=6,
    ),
    No("(float[2] x) => (float[2] y) { y = Dropout (x) }", "dropout-in-training"),
    No(
        "(float[2,3] x, float[3] s) => (float[2,3] y) { y = LayerNormalization (x, s) }",
        "normalization-outputs",
    ),
    No(
        "(float[2] x) => (float[2] y) <float r = {0.5}, bool t = {0}> { y = Dropout (x, r, t) }",
        "dropout-training",
    ),
    No(
        "(float[1,4,2] x, float[2] s) => (float[1,4,2] y) { y = GroupNormalization "
        "<num_groups = 2> (x, s, s) }",
        "group-norm-scale",
        "trt8.6",
        18,
    ),
    No(
        "(float[2,3] x) => (float[2,3] y) { y = Softmax <axis = -1> (x) }",
        "softmax-13",
        "trt7.2",
        13,
    ),
]
UNKNOWN = [
    Unknown(
        "(float[2] x) => (float[2] y) { z = my.domain.Op (x) y = LpNormalization (z) }",
        "normalization-type",
        "dtype of z",
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
