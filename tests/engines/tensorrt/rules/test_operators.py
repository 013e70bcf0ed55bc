from __future__ import annotations

import pytest

from tests.engines.cases import No, Yes, assert_no, assert_yes

YES = [
    Yes(
        "(float[1, 3, 4, 4] x, float[2, 4] b, int32[2] i, int32[2] s) => (float[2, 3, 2, 2] y) "
        "{ y = com.microsoft.CropAndResize (x, b, i, s) }",
        "operator-not-supported",
        "op:com.microsoft::CropAndResize",
        "reject",
        "could not find plugin: CropAndResize",
    ),
    Yes(
        "(float[2] x) => (float[2] y) { y = Det (x) }",
        "operator-not-supported",
        "op:Det",
        "reject",
        "Plugin not found",
    ),
    Yes(
        "(float[2] x) => (float[2] y) { y = com.microsoft.Inverse (x) }",
        "operator-not-supported",
        "op:com.microsoft::Inverse",
        "reject",
        "could not find plugin: Inverse",
    ),
    Yes(
        "(float[2] x) => (float[2] y) { y = org.pytorch.aten.ATen <operator: string = "
        '"linalg_inv"> (x) }',
        "operator-not-supported",
        "op:aten::linalg_inv",
        "reject",
        "Plugin not found",
    ),
    Yes(
        "(float[2] x) => (float[2] y) { y = Mod (x, x) }",
        "operator-not-supported",
        "op:Mod",
        "reject",
        "No importer registered for op: Mod",
        "trt7.0",
    ),
    Yes(
        "(float[2] x) => (float[2] y) { y = com.microsoft.Relu (x) }",
        "foreign-domain",
        "domain:com.microsoft::Relu",
        "wrong",
    ),
]
NO = [
    No(
        "(float[2] x) => (float[2] y) { y = Relu (x) }",
        "operator-not-supported",
    ),
    No(
        "(float[2] x) => (float[2] y) { y = EfficientNMS_TRT (x) }",
        "operator-not-supported",
    ),
    No(
        "(float[2] x) => (float[2] y) { y = Relu (x) }",
        "foreign-domain",
    ),
]


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule}-{case.feature}-{case.target}")
def test_says_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: f"{case.rule}-{case.target}-{case.opset}")
def test_says_nothing(case: No) -> None:
    assert_no(case)
