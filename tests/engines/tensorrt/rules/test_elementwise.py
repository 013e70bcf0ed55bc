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
        "(bool[2] x) => (bool[2] y) { y = Equal (x, x) }",
        "equal-of-bool",
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
]
UNKNOWN = [
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
