"""Faults that several engines share: joined axes, output_shape, averages, slopes."""

from __future__ import annotations

import pytest

from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes

SHAPED = (
    "(float[1,2,{0}] x, float[2,3,3] w) => (float[A,B,C] y)"
    " {{ y = ConvTranspose <strides = [2], output_shape = [{1}]{2}> (x, w) }}"
)
AVERAGE = (
    "(float[1,1,{0},4] x) => (float[1,1,A,B] y) {{ y = AveragePool <kernel_shape = [3,3],"
    " strides = [2,2], pads = [1,1,1,1], ceil_mode = {1}, count_include_pad = {2}> (x) }}"
)


@pytest.mark.parametrize("target", ["tvm0.27", "tract0.23", "ncnn1.0", "rknn2.3"])
def test_output_shape(target: str) -> None:
    rule = "pads-of-output-shape"
    feature = "attr:ConvTranspose.output_shape"
    assert_yes(Yes(SHAPED.format(5, 10, ""), rule, feature, "wrong", target=target))
    even = SHAPED.format(5, 9, "")
    if target == "rknn2.3":
        assert_no(No(even, rule, target=target))
    else:
        assert_yes(Yes(even, rule, feature, "wrong", target=target))
    assert_no(No(SHAPED.format(5, 11, ""), rule, target=target))
    automatic = SHAPED.format(5, 10, ', auto_pad = "SAME_UPPER"')
    assert_no(No(automatic, rule, target=target))
    assert_unknown(Unknown(SHAPED.format("N", 10, ""), rule, "sizes of x", target=target))


@pytest.mark.parametrize(
    ("rule", "target"),
    [("average-beyond-the-end", "ncnn1.0"), ("average-beyond-padding", "opencv5.0")],
)
def test_averages_of_open_sizes(rule: str, target: str) -> None:
    free = AVERAGE.format("N", 1, 1)
    assert_unknown(Unknown(free, rule, "sizes of x", target=target, opset=19))
    batch = AVERAGE.format(4, 1, 1).replace("float[1,", "float[N,")
    assert batch != AVERAGE.format(4, 1, 1)
    feature = "attr:AveragePool.count_include_pad"
    assert_yes(Yes(batch, rule, feature, "wrong", target=target, opset=19))
    assert_no(No(free.replace("strides = [2,2]", "strides = [1,1]"), rule, target=target, opset=19))
