from __future__ import annotations

import pytest

from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes

YES = [
    Yes(
        "(float[4] x) => (float[N] y) <int64[1] s = {0}, int64[1] e = {4}, int64[1] t = {2}> "
        "{ y = Slice (x, s, e, , t) }",
        "slice-without-axes",
        "form:Slice.steps-without-axes",
        "reject",
        "segmentation fault",
        "trt10.1",
    ),
    Yes(
        "(float[2] x, int64[3] i, float[3] u) => (float[2] y) { y = ScatterElements (x, i, u) }",
        "scatter-elements-dims",
        "rank:ScatterElements",
        "reject",
        "less than data dimensions",
        "trt10.1",
    ),
    Yes(
        "(float[4] x) => (float[N] y) <int64[1] s = {0}, int64[1] e = {2}> { y = Slice (x, "
        "s, e, , s) }",
        "slice-without-axes",
        "form:Slice.steps-without-axes",
        "reject",
    ),
    Yes(
        "(float[4,4] x) => (float[M,N] y) <int64[2] s = {0, 0}, int64[2] a = {1, -1}> { y = "
        "Slice (x, s, s, a) }",
        "slice-lengths",
        "form:Slice.duplicate-axes",
        "reject",
        "No duplicated axes",
    ),
    Yes(
        "(float[5] x) => (float[3] y, float[2] z) { y, z = Split <axis = 0, num_outputs = 2> (x) }",
        "split-uneven",
        "form:Split.uneven",
        "wrong",
        "",
        "trt8.6",
        18,
    ),
    Yes(
        "(float[2,3] x) => (float y) <int64 i = {0}> { s = Shape (x) g = Gather (s, i) y = "
        "Cast <to = 1> (g) }",
        "gather-on-shape",
        "shape:Gather.shape-tensor",
        "reject",
        "Cannot perform gather on a shape tensor!",
        "trt6-fulldims",
    ),
    Yes(
        "(float[4] x, int64[1,1] i, float[1] u) => (float[4] y) { y = ScatterND <reduction "
        '= "none"> (x, i, u) }',
        "scatter-nd-reduction",
        "attr:ScatterND.reduction=none",
        "reject",
        "Attribute reduction is not supported.",
        "trt10.1",
    ),
    Yes(
        "(float[4] x, int64[6] i, float[6] u) => (float[4] y) { y = ScatterElements (x, i, u) }",
        "scatter-elements-dims",
        "rank:ScatterElements",
        "reject",
        "Indices dimensions must be less",
    ),
    Yes(
        "(float[4] x) => (float[N] y) <int64[2] p = {1, 1}, int64[1] a = {0}> { y = Pad (x, "
        "p, , a) }",
        "pad-axes",
        "form:Pad.axes",
        "reject",
        "dynamic axes for pad",
        "trt8.6",
        18,
    ),
    Yes(
        "(float[4] x) => (float[N] y) <int64[2] p = {-1, 1}> { y = Pad (x, p) }",
        "pad-negative",
        "attr:Pad.negative",
        "reject",
        "Failed to convert padding!",
    ),
    Yes(
        "(float[4] x, int64[3] p) => (float[N] y) { y = Pad (x, p) }",
        "pad-length",
        "shape:Pad.pads-length",
        "reject",
        "pads should be a 1D tensor",
    ),
    Yes(
        "(float[1,2,4,4] x) => (float[A,B,C,D] y) <int64[8] p = {0, 1, 0, 0, 0, 0, 0, 0}> { "
        "y = Pad (x, p) }",
        "pad-dims",
        "attr:Pad.outer-dims",
        "reject",
        "outer two dimensions",
        "trt8.0",
    ),
]
NO = [
    No(
        "(float[2] x, int64[3] i, float[3] u) => (float[2] y) "
        '{ y = ScatterElements <reduction = "add"> (x, i, u) }',
        "scatter-elements-dims",
        "trt10.1",
    ),
    No(
        "(float[4] x) => (float[2] y, float[2] z) { y, z = Split <axis = 0, num_outputs = 2> (x) }",
        "split-uneven",
        "trt8.6",
        18,
    ),
    No(
        "(float[4] x) => (float[1] y) <int64[1] i = {-1}> { y = Gather (x, i) }",
        "gather-negative",
    ),
    No(
        "(float[4] x, int64[2] p) => (float[N] y) { y = Pad (x, p) }",
        "pad-length",
    ),
    No(
        "(float[4,4] x) => (float[1,4] y) <int64[1] i = {1}> { y = Gather (x, i) }",
        "gather-on-shape",
        "trt6-fulldims",
    ),
]
UNKNOWN = [
    Unknown(
        "(float[4] x, int64[N] p) => (float[M] y) { y = Pad (x, p) }",
        "pad-length",
        "length of p",
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
