"""Shapes of the parameters of convolutions."""

from __future__ import annotations

import pytest

from tests.engines.cases import No, Yes, assert_no, assert_yes

CONV = (
    "(float[1,2,4,4] x) => (float[A,B,C,D] y) <float[2,2,1,1] w = {1, 2, 3, 4}, %s> "
    "{ y = Conv (x, w, b) }"
)
BACK = (
    "(float[1,2,4,4] x) => (float[A,B,C,D] y) <float[2,3,1,1] w = {1, 2, 3, 4, 5, 6}, %s> "
    "{ y = ConvTranspose <group = 2> (x, w, b) }"
)
DEFORM = (
    "(float[1,1,3,3] x, float[1,1,2,2] w, float[1,8,4,4] o) => (float[A,B,C,D] y) "
    "{ y = DeformConv <kernel_shape = [2, 2], pads = [%s]> (x, w, o) }"
)

YES = [
    Yes(
        CONV % "float[3] b = {1, 2, 3}",
        "conv-bias-shape",
        "shape:Conv.bias",
        "reject",
        "misaligns with the weight tensor",
    ),
    Yes(
        CONV % "float[1,2] b = {1, 2}",
        "conv-bias-shape",
        "shape:Conv.bias",
        "reject",
        "required to be 1D",
        "trt10.1",
    ),
    Yes(
        BACK % "float[3] b = {1, 2, 3}",
        "conv-bias-shape",
        "shape:ConvTranspose.bias",
        "reject",
        "misaligns",
    ),
    Yes(
        DEFORM % "1, 1, 0, 0",
        "deform-conv-pads",
        "attr:DeformConv.pads",
        "reject",
        "same number of pixels",
        "trt10.1",
        19,
    ),
]
NO = [
    No(CONV % "float[2] b = {1, 2}", "conv-bias-shape"),
    No(BACK % "float[6] b = {1, 2, 3, 4, 5, 6}", "conv-bias-shape"),
    No(DEFORM % "1, 1, 1, 1", "deform-conv-pads", "trt10.1", 19),
]


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule}-{case.feature}-{case.target}")
def test_says_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: f"{case.rule}-{case.target}-{case.opset}")
def test_says_nothing(case: No) -> None:
    assert_no(case)
