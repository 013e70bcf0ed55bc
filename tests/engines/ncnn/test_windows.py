"""ncnn: windows of convolutions and pools, pads, and images of other sizes."""

from __future__ import annotations

import pytest

from tests.engines.cases import No, Yes, assert_no, assert_yes
from tests.engines.ncnn.graphs import IMAGE, T, X, yes

SCALED = IMAGE + "<float[4] s = {{1.0, 1.0, 2.0, 2.0}}> {{ y = Resize <{}> (x, , s) }}"
POOLED = IMAGE + "{{ y = {} <kernel_shape = [2, 2], {}> (x) }}"


YES = [
    yes(
        IMAGE + "<int64[8] p = {0,0,1,1,0,0,1,1}> { y = Pad (x, p) }",
        "pad-without-mode",
        "attr:Pad.no-mode",
    ),
    yes(
        IMAGE + '<int64[8] p = {1,0,1,1,0,0,1,1}> { y = Pad <mode = "edge"> (x, p) }',
        "pad-of-the-batch",
        "attr:Pad.outer-dims",
        "wrong",
    ),
    yes(
        IMAGE + '<int64[8] p = {0,0,0,-1,0,0,0,0}> { y = Pad <mode = "edge"> (x, p) }',
        "pad-that-crops",
        "form:Pad.negative",
    ),
    yes(
        IMAGE + '<int64[8] p = {0,0,0,1,0,0,0,0}> { y = Pad <mode = "wrap"> (x, p) }',
        "pad-that-crops",
        "attr:Pad.mode=wrap",
        opset=19,
    ),
    yes(
        IMAGE
        + '<float[1,4,1,1] w = {1.0,2.0,3.0,4.0}> { y = Conv <auto_pad = "SAME_LOWER"> (x, w) }',
        "padded-before",
        "attr:Conv.auto_pad",
    ),
    yes(
        POOLED.format("AveragePool", "pads = [0, 0, 1, 1]"),
        "pads-of-two-sizes",
        "shape:AveragePool.pads",
    ),
    yes(
        "(float[1,1,4,4] x) => (float[A,B,C,D] y, int64[A,B,C,D] i) "
        "{ y, i = MaxPool <kernel_shape = [2, 2]> (x) }",
        "pool-with-places",
        "form:MaxPool.indices",
    ),
    yes(
        POOLED.format("MaxPool", "dilations = [2, 2]"),
        "pool-with-gaps",
        "attr:MaxPool.dilations",
    ),
    yes(
        SCALED.format('mode = "linear", coordinate_transformation_mode = "asymmetric"'),
        "mixture-of-other-places",
        "attr:Resize.coordinate_transformation_mode=asymmetric",
        "wrong",
    ),
    yes(
        SCALED.format('mode = "linear", nearest_mode = "ceil"'),
        "rounding-that-is-written",
        "attr:Resize.nearest_mode=ceil",
    ),
    yes(SCALED.format('nearest_mode = "floor"'), "resize-without-mode", "attr:Resize.no-mode"),
    yes(
        SCALED.format('mode = "cubic", cubic_coeff_a = -0.5'),
        "cubic-of-another-slope",
        "attr:Resize.mode=cubic",
        "wrong",
    ),
    yes(
        "(float[3,4] x) => (float[B,C] y) <float[2] s = {1.0, 2.0}> { y = Resize (x, , s) }",
        "resize-of-no-image",
        "rank:Resize.2",
    ),
    yes(
        "(float[1,1,2,2,2] x) => (float[A,B,C,D,E] y) <float[5] s = {1.0,1.0,2.0,2.0,2.0}> "
        "{ y = Resize (x, , s) }",
        "resize-of-no-image",
        "rank:Resize.5",
        "wrong",
    ),
    yes(
        IMAGE + "<float[4] s = {1.0,1.0,2.0,2.0}> { y = Resize (x, s) }",
        "resize-of-old-opset",
        "attr:Resize.mode=nearest",
        opset=10,
    ),
    yes(
        IMAGE + '<float[4] s = {1.0,1.0,2.0,2.0}> { y = Upsample <mode = "linear"> (x, s) }',
        "resize-of-old-opset",
        "attr:Upsample.mode=linear",
        "wrong",
        9,
    ),
    yes(
        SCALED.format('mode = "linear", antialias = 1'),
        "resize-that-smooths",
        "attr:Resize.antialias=1",
        opset=18,
    ),
    yes(
        POOLED.format("MaxPool", "ceil_mode = 1").replace("[2, 2]", "[7, 7]"),
        "window-larger-than-the-input",
        "shape:MaxPool.window",
        "wrong",
    ),
    yes(
        POOLED.format("MaxPool", "ceil_mode = 1, strides = [3, 3]").replace("5,5", "9,9"),
        "window-behind-the-end",
        "attr:MaxPool.ceil_mode",
        "wrong",
    ),
    yes(
        POOLED.format("AveragePool", "ceil_mode = 1, count_include_pad = 1, strides = [2, 2]"),
        "average-beyond-the-end",
        "attr:AveragePool.count_include_pad",
        "wrong",
    ),
]

NO = [
    No(
        "(float[1,3,4] x) => (float[A,B,C] y) <float[3] s = {1.0, 1.0, 2.0}> "
        "{ y = Resize (x, , s) }",
        "resize-of-no-image",
        T,
    ),
    No(
        IMAGE + '<float[4] s = {1.0,1.0,2.0,2.0}> { y = Upsample <mode = "nearest"> (x, s) }',
        "resize-of-old-opset",
        T,
        9,
    ),
    No(
        IMAGE + '<int64[8] p = {0,0,1,1,0,0,1,1}> { y = Pad <mode = "constant"> (x, p) }',
        "pad-without-mode",
        T,
    ),
    No(
        POOLED.format("AveragePool", "ceil_mode = 1, strides = [2, 2]"), "average-beyond-the-end", T
    ),
    No(
        IMAGE + '<int64[8] p = {0,1,1,1,0,0,1,1}> { y = Pad <mode = "edge"> (x, p) }',
        "pad-of-the-batch",
        T,
    ),
    No(
        X + '<int64[4] p = {1,0,1,1}> { y = Pad <mode = "edge"> (x, p) }',
        "pad-of-the-batch",
        T,
    ),
    No(
        IMAGE + '<int64[8] p = {0,0,0,-1,0,0,0,0}> { y = Pad <mode = "constant"> (x, p) }',
        "pad-that-crops",
        T,
    ),
    No(POOLED.format("AveragePool", "pads = [1, 1, 1, 1]"), "pads-of-two-sizes", T),
    No(SCALED.format('mode = "linear"'), "mixture-of-other-places", T, 13),
]


@pytest.mark.parametrize("case", YES, ids=lambda case: case.rule)
def test_the_rule_finds(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: case.rule)
def test_the_rule_says_nothing(case: No) -> None:
    assert_no(case)
