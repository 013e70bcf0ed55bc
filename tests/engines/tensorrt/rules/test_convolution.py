from __future__ import annotations

import pytest

from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes

YES = [
    Yes(
        "(float[1,2,4,4] x, float[1,2,3,3] w) => (float[A,B,C,D] y) { y = Conv (x, w) }",
        "conv-window-unknown",
        "attr:Conv.no-kernel_shape",
        "reject",
        "misaligns with the input kernel shape",
    ),
    Yes(
        "(float[1,2,4,4] x, float[1] b) => (float[A,B,C,D] y) <float[1,2,1,1] w = {1, 1}> { "
        "y = Conv (x, w, b) }",
        "conv-window-unknown",
        "attr:Conv.no-kernel_shape",
        "reject",
        "misaligns with the input kernel shape",
        "trt10.1",
    ),
    Yes(
        "(float[1,1,2,2] x) => (float[1,1,A,B] y) { y = MaxPool <kernel_shape = [1, 1], "
        "strides = [2, 2], ceil_mode = 1> (x) }",
        "pool-last-window",
        "form:MaxPool.ceil_mode",
        "wrong",
        "",
        "trt10.1",
        22,
    ),
    Yes(
        "(float[1,1,5,5] x) => (float[1,1,A,B] y) { y = LpPool <kernel_shape = [2, 2], "
        "strides = [2, 2], ceil_mode = 1> (x) }",
        "pool-last-window",
        "form:LpPool.ceil_mode",
        "wrong",
        "",
        "trt8.6",
        18,
    ),
    Yes(
        "(float[1,2,4,4] x, float[1] b) => (float[A,B,C,D] y) <float[1,2,1,1] w = {1, 1}> { "
        "y = Conv (x, w, b) }",
        "conv-b-constant",
        "const:Conv.B",
        "reject",
        "bias tensor is required",
        "trt8.4",
    ),
    Yes(
        "(float[1,3,4,4] x) => (float[A,B,C,D] y) <float[1,2,1,1] w = {1, 1}> { y = Conv (x, w) }",
        "conv-channels",
        "shape:Conv.channels",
        "reject",
        "failed to broadcast to input",
    ),
    Yes(
        "(float[1,2,4,4] x) => (float[A,B,C,D] y) <float[1,2,1,1] w = {1, 1}> { y = Conv "
        "<kernel_shape = [2, 2]> (x, w) }",
        "conv-kernel-shape",
        "attr:Conv.kernel_shape",
        "reject",
        "kernel shape",
    ),
    Yes(
        "(float[1,2,4,4] x) => (float[A,B,C,D] y) { y = AveragePool <kernel_shape = [8, 2], "
        "strides = [8, 1], pads = [1, 0, 2, 0], ceil_mode = 1> (x) }",
        "window-too-large",
        "shape:AveragePool.window",
        "reject",
        "output cannot be negative",
        "trt10.1",
    ),
    Yes(
        "(float[1,1,4,N] x) => (float[A,B,C,D] y) <float[1,1,3,1] w = {1, 1, 1}> { y = Conv "
        "<dilations = [2, 1]> (x, w) }",
        "window-too-large",
        "shape:Conv.window",
        "reject",
    ),
    Yes(
        "(float[1,2,4,4] x) => (float[A,B,C,D] y) { y, i = MaxPool <kernel_shape = [2, 2]> (x) }",
        "max-pool-indices",
        "form:MaxPool.indices",
        "reject",
        "indices output in MaxPool",
    ),
    Yes(
        "(float[1,1,3,3] x) => (float[A,B,C,D] y) <float[1,1,1,1] w = {1}> { y = "
        "ConvTranspose <output_shape = [6, 6]> (x, w) }",
        "conv-transpose-padding",
        "attr:ConvTranspose.negative-pads",
        "reject",
        "negative pre-padding",
    ),
]
NO = [
    No(
        "(float[1,2,4,4] x, float[1,2,3,3] w) => (float[A,B,C,D] y) { y = Conv "
        "<kernel_shape = [3, 3]> (x, w) }",
        "conv-window-unknown",
    ),
    No(
        "(float[1,2,4,4] x) => (float[A,B,C,D] y) <float[1,2,1,1] w = {1, 1}> { y = Conv (x, w) }",
        "conv-window-unknown",
    ),
    No(
        "(float[1,1,5,5] x) => (float[1,1,A,B] y) { y = MaxPool <kernel_shape = [2, 2], "
        "strides = [2, 2], ceil_mode = 1> (x) }",
        "pool-last-window",
        opset=22,
    ),
    No(
        "(float[1,1,2,2] x) => (float[1,1,A,B] y) { y = MaxPool <kernel_shape = [1, 1], "
        "strides = [2, 2]> (x) }",
        "pool-last-window",
    ),
    No(
        "(float[1,2,4,4] x) => (float[A,B,C,D] y) { y = AveragePool <kernel_shape = [7, 2], "
        "strides = [8, 1], pads = [1, 0, 2, 0], ceil_mode = 1> (x) }",
        "window-too-large",
    ),
    No(
        "(float[1,2,H,4] x) => (float[A,B,C,D] y) { y = MaxPool <kernel_shape = [7, 2]> (x) }",
        "window-too-large",
    ),
    No(
        "(float[1,2,4,4] x) => (float[A,B,C,D] y) { y = MaxPool <kernel_shape = [7, 7], "
        'auto_pad = "SAME_UPPER"> (x) }',
        "window-too-large",
    ),
    No(
        "(float[1,2,4,4] x, float[1] b) => (float[A,B,C,D] y) <float[1,2,1,1] w = {1, 1}> { "
        "y = Conv (x, w, b) }",
        "conv-b-constant",
    ),
    No(
        "(float[1,4,4,4] x) => (float[A,B,C,D] y) <float[2,2,1,1] w = {1, 1, 1, 1}> { y = "
        "Conv <group = 2> (x, w) }",
        "conv-channels",
    ),
]
UNKNOWN = [
    Unknown(
        "(float[2] x) => (float[2] y) <float[1,2,1,1] w = {1, 1}> { z = my.domain.Op (x) y "
        "= Conv (z, w) }",
        "conv-rank",
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
