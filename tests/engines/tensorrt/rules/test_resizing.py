from __future__ import annotations

import pytest

from tests.engines.cases import No, Yes, assert_no, assert_yes

YES = [
    Yes(
        "(float[1,1,4,4] x, float[N,M] r, int64[N] i) => (float[N,1,1,1] y) "
        "{ y = RoiAlign (x, r, i) }",
        "roi-align-rois",
        "shape:RoiAlign.rois",
        "reject",
        "dimensions for ROIs",
    ),
    Yes(
        "(float[1,1,4,4] x, float[N,5] r, int64[N] i) => (float[N,1,1,1] y) "
        "{ y = RoiAlign (x, r, i) }",
        "roi-align-rois",
        "shape:RoiAlign.rois",
        "reject",
        "dimensions for ROIs",
        "trt10.1",
    ),
    Yes(
        "(float[1,1,4,4] x, float[4] s) => (float[A,B,C,D] y) { y = Resize (x, , s) }",
        "resize-scales",
        "const:Resize.scales",
        "reject",
        "Resize scales must be an initializer!",
        "trt8.2",
    ),
    Yes(
        "(float[1,1,4,4] x) => (float[A,B,C,D] y)<float[4] s = {1, 1, 2, 2}>{ y = Resize "
        '<coordinate_transformation_mode = "tf_crop_and_resize"> (x, x, s) }',
        "resize-coordinates",
        "attr:Resize.coordinate_transformation_mode=tf_crop_and_resize",
        "reject",
        "align_corners transformation modes!",
    ),
    Yes(
        "(float[2,2,4,4] x) => (float[A,B,C,D] y) <float[4] s = {2, 1, 2, 2}> { y = Resize "
        '<mode = "linear"> (x, , s) }',
        "resize-scaled-dims",
        "rank:Resize.scaled-dims",
        "reject",
        "outermost 3 dimensions",
    ),
    Yes(
        "(float[1,1,4,4] x) => (float[A,B,C,D] y)<float[2] s = {2, 2}> { y = Resize <axes = "
        "[2, 3]> (x, , s) }",
        "resize-axes",
        "form:Resize.axes",
        "reject",
        "must align with the input rank",
        "trt8.6",
        18,
    ),
    Yes(
        "(float[1,1,4,4] x, float[1,4,4,2] g) => (float[A,B,C,D] y) { y = GridSample <mode "
        '= "linear"> (x, g) }',
        "grid-sample-mode",
        "form:GridSample.mode=linear",
        "wrong",
        "",
        "trt8.6",
        20,
    ),
    Yes(
        "(float[1,1,4,4] x) => (float[A,B,C,D] y)<float[4] s = {1, 1, 2, 2}>{ y = Resize "
        '<mode = "linear", coordinate_transformation_mode = "align_corners"> (x, , s) }',
        "resize-coordinates-7",
        "attr:Resize.coordinate_transformation_mode=align_corners",
        "reject",
        "linear resizes when scales are provided",
        "trt7.2",
        11,
    ),
    Yes(
        "(float[1,1,4,4] x) => (float[A,B,C,D] y)<float[4] s = {1, 1, 2, 2}>{ y = Resize "
        '<mode = "linear", coordinate_transformation_mode = "align_corners"> (x, , s) }',
        "resize-coordinates-7",
        "attr:Resize.coordinate_transformation_mode=align_corners",
        "wrong",
        "",
        "trt7.1",
        11,
    ),
    Yes(
        "(float[1,1,4,4] x) => (float[A,B,C,D] y)<float[4] s = {1, 1, 2, 2}>{ y = Upsample "
        '<mode = "linear"> (x, s) }',
        "linear-of-rank-4",
        "rank:Upsample.linear",
        "reject",
        "nbDims <= 3",
        "trt7.0",
        9,
    ),
]
NO = [
    No(
        "(float[1,1,4,4] x, float[N,4] r, int64[N] i) => (float[N,1,1,1] y) "
        "{ y = RoiAlign (x, r, i) }",
        "roi-align-rois",
    ),
    No(
        "(float[1,1,4,4] x, float[4] s) => (float[A,B,C,D] y) { y = Resize (x, , s) }",
        "resize-scales",
    ),
    No(
        "(float[1,1,4,4] x) => (float[A,B,C,D] y)<float[4] s = {1, 1, 2, 2}>{ y = Resize "
        '<mode = "cubic"> (x, , s) }',
        "resize-scaled-dims",
    ),
    No(
        "(float[1,1,4,4] x) => (float[A,B,C,D] y)<float[4] s = {1, 1, 2, 2}>{ y = Resize "
        '<mode = "linear", coordinate_transformation_mode = "half_pixel"> (x, , s) }',
        "resize-coordinates-7",
        "trt7.2",
        11,
    ),
    No(
        "(float[1,1,4,4] x, float[1,4,4,2] g) => (float[A,B,C,D] y) { y = GridSample <mode "
        '= "bilinear"> (x, g) }',
        "grid-sample-mode",
    ),
    No(
        "(float[1,1,4,4] x) => (float[A,B,C,D] y)<int64[2] s = {2, 2}> { y = Resize <axes = "
        "[2, 3]> (x, , , s) }",
        "resize-axes-of-scales",
        "trt10.1",
        18,
    ),
]


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule}-{case.feature}-{case.target}")
def test_says_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: f"{case.rule}-{case.target}-{case.opset}")
def test_says_nothing(case: No) -> None:
    assert_no(case)
