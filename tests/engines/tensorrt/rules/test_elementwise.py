from __future__ import annotations

import pytest

from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes

YES = [
    Yes(
        "(float[2,3] x) => (float[2,3] y) <float one = {1}> { e = Exp (x)  y = Add (e, one) }",
        "old-broadcasting",
        "opset:too-low",
        "reject",
        "Failed to broadcast tensors elementwise!",
        opset=1,
    ),
    Yes(
        "(float[2] x) => (float[2] y) { y = Sum (x, x, x) }",
        "old-broadcasting",
        "opset:too-low",
        "reject",
        "Pre-opset 7 broadcasting",
        "trt10.1",
        6,
    ),
    Yes(
        "(bool[2] x) => (bool[2] y) { y = Max (x, x) }",
        "arithmetic-of-bool",
        "dtype:Max.bool",
        "reject",
        "elementwiseCheck(inputs, binary_op)",
    ),
    Yes(
        "(int64[2] x) => (int64[2] y) { y = Pow (x, x) }",
        "pow-of-integers",
        "dtype:Pow.int64",
        "reject",
        "elementwiseCheck",
    ),
    Yes(
        "(float[2] x) => (float[2] y) { y = Or (x, x) }",
        "logic-of-numbers",
        "dtype:Or.float32",
        "reject",
        "elementwiseCheck",
    ),
    Yes(
        "(bool[2] x) => (bool[2] y) { y = Equal (x, x) }",
        "equal-of-bool",
        "dtype:Equal.bool",
        "reject",
        "elementwiseCheck",
        "trt8.2",
    ),
    Yes(
        "(int32[2] x) => (int32[2] y) { y = Sign (x) }",
        "sign-of-integers",
        "dtype:Sign.int32",
        "reject",
        "validUnaryType",
    ),
    Yes(
        "(int32[2] x) => (int32[2] y) { y = Ceil (x) }",
        "unary-of-integers",
        "dtype:Ceil.int32",
        "reject",
        "validUnaryType",
    ),
    Yes(
        "(bool[2] x) => (bool[2] y) { y = Sign (x) }",
        "sign-of-bool",
        "dtype:Sign.bool",
        "reject",
        "validUnaryType",
        "trt10.1",
    ),
    Yes(
        "(int32[2] x) => (bool[2] y) { y = IsInf (x) }",
        "isinf-of-integers",
        "dtype:IsInf.int32",
        "reject",
        "validUnaryType",
        opset=20,
    ),
    Yes(
        "(int64[2] x) => (int64[2] y) { y = Relu (x) }",
        "activation-of-int64",
        "dtype:Relu.int64",
        "builder",
        "only activation types",
        "trt10.1",
    ),
    Yes(
        "(bfloat16[2] x) => (bfloat16[2] y) { y = HardSwish (x) }",
        "activation-of-bfloat16",
        "dtype:HardSwish.bfloat16",
        "reject",
        "BF16",
        "trt10.1",
        22,
    ),
    Yes(
        "(bool[2] x) => (bool[2] y) { y = Neg (x) }",
        "abs-neg-of-bool",
        "dtype:Neg.bool",
        "reject",
        "validUnaryType",
    ),
    Yes(
        "(float[2] x) => (float[2] y) { y = Not (x) }",
        "not-of-numbers",
        "dtype:Not.float32",
        "reject",
        "validUnaryType",
    ),
    Yes(
        "(int64[2] x) => (int64[2] y) { y = Relu (x) }",
        "activation-of-integers",
        "dtype:Relu.int64",
        "reject",
        "Found invalid input type of INT32",
    ),
    Yes(
        "(float[2] x) => (float[2] y) { y = Mod (x, x) }",
        "mod-of-floats",
        "dtype:Mod.float32",
        "reject",
        "fmod attribute is set to 0",
    ),
    Yes(
        "(double[2] x) => (double[2] y) { y = Mod (x, x) }",
        "mod-of-floats",
        "dtype:Mod.float64",
        "reject",
        "fmod attribute is set to 0",
    ),
    Yes(
        "(int8[2] x, int8 a) => (int8[2] y) { y = Clip (x, a) }",
        "clip-type",
        "dtype:Clip.int8",
        "reject",
        "FLOAT or INT32 inputs for Clip!",
    ),
    Yes(
        "(float[2] x, float a) => (float[2] y) { y = Clip (x, a) }",
        "clip-bounds",
        "const:Clip.min",
        "reject",
        "Clip min value must be an initializer!",
        "trt7.2",
    ),
    Yes(
        "(float[2,3] x, float[3] w) => (float[2,3] y) { y = Add (x, w) }",
        "old-broadcasting",
        "opset:too-low",
        "reject",
        "Failed to broadcast tensors elementwise!",
        "trt8.6",
        6,
    ),
]
NO = [
    No(
        "(float[2] x) => (float[2] y) { y = Max (x, x) }",
        "arithmetic-of-bool",
    ),
    No(
        "(double[2] x) => (double[2] y) { y = Pow (x, x) }",
        "pow-of-integers",
    ),
    No(
        "(bool[2] x) => (bool[2] y) { y = Equal (x, x) }",
        "equal-of-bool",
    ),
    No(
        "(int32[2] x) => (int32[2] y) { y = Neg (x) }",
        "abs-neg-of-bool",
    ),
    No(
        "(float[2] x) => (float[2] y) { y = Mod <fmod = 1> (x, x) }",
        "mod-of-floats",
    ),
    No(
        "(int64[2] x) => (int64[2] y) { y = Mod (x, x) }",
        "mod-of-floats",
    ),
    No(
        "(float[2] x, float a) => (float[2] y) { y = Clip (x, a) }",
        "clip-bounds",
    ),
    No(
        "(float[2,3] x, float[3] w) => (float[2,3] y) { y = Add (x, w) }",
        "old-broadcasting",
    ),
    No("(int32[2] x) => (int32[2] y) { y = Sign (x) }", "sign-of-bool", "trt10.1"),
    No(
        "(int32[2] x) => (bool[2] y) { y = IsInf <detect_negative = 0> (x) }",
        "isinf-of-integers",
        opset=20,
    ),
    No("(int64[2] x) => (int64[2] y) { y = Relu (x) }", "activation-of-integers", "trt10.1"),
]
UNKNOWN = [
    Unknown(
        "(float[2] x) => (float[2] y) { z = my.domain.Op (x) y = Ceil (z) }",
        "unary-of-integers",
        "dtype of z",
    ),
    Unknown(
        "(float[2] x) => (float[2] y) { z = my.domain.Op (x) y = Mod (z, z) }",
        "mod-of-floats",
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
