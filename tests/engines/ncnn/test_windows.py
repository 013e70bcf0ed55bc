"""ncnn: windows of convolutions and pools, pads, and images of other sizes."""

from __future__ import annotations

import pytest

from tests.engines.cases import No, Yes, assert_no, assert_yes
from tests.engines.ncnn.graphs import IMAGE, T, X, yes

SCALED = IMAGE + "<float[4] s = {{1.0, 1.0, 2.0, 2.0}}> {{ y = Resize <{}> (x, , s) }}"
POOLED = IMAGE + "{{ y = {} <kernel_shape = [2, 2], {}> (x) }}"


YES = [
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
        POOLED.format("AveragePool", "pads = [0, 0, 1, 1]"),
        "pads-of-two-sizes",
        "shape:AveragePool.pads",
    ),
    yes(
        SCALED.format('mode = "linear", coordinate_transformation_mode = "asymmetric"'),
        "mixture-of-other-places",
        "attr:Resize.coordinate_transformation_mode=asymmetric",
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
