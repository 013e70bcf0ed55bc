"""OpenVINO: a softmax over several axes, windows of averages, and slopes of PRelu."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.pool_windows import ends_of_full_windows, window_begins_after
from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, rule
from graphfix.engines.rule_makers import adds_a_window, joins_no_axes
from graphfix.ir.views import NodeView

JOINED_AXES = joins_no_axes(
    ops="Softmax",
    opsets=range(11, 13),
    versions="openvino2026.4..",
    source="measured on 2026.4.1: the second of three axes; opset 10 and LogSoftmax are equal",
)

WINDOW_PAST_THE_END = adds_a_window(
    ops="MaxPool",
    versions="openvino",
    source="measured on 2026.4.1, opsets 11, 18 and 22: [9,9] by windows of 2 and strides of 3, and"
    " [23,23] by windows and strides of 2 with pads of 1",
)


@rule(
    "AveragePool",
    feature="attr:AveragePool.count_include_pad",
    versions="openvino2026.4..",
    severity=WRONG,
    source="measured on 2026.4.1: [4,4] with windows of 3 by strides of 2 and pads of 1; without"
    " pads or count_include_pad it is equal",
)
def average_beyond_the_end(node: NodeView, target: Target) -> Answer:
    """OpenVINO's average counts positions past the padding that ceil_mode adds; ONNX does not."""
    counted = node.attr("count_include_pad", 0) and any(node.attr("pads", ()))
    if not (counted and node.attr("ceil_mode", 0)):
        return None
    ends = ends_of_full_windows(node)
    return Unknown(f"sizes of {node.need(0).name}") if ends is None else bool(ends)


@rule(
    "PRelu",
    feature="rank:PRelu.slope",
    versions="openvino2026.4..",
    severity=WRONG,
    source="openvinotoolkit/openvino issue 35958 (2026.1; pull request 36020) and 33371; seen here"
    " in 2026.4.1: a slope of as many elements as there are channels; otherwise it is equal",
)
def slope_of_the_last_axis(node: NodeView, target: Target) -> Answer:
    """OpenVINO applies a 1D slope of PRelu to the channels; ONNX applies it to the last axis."""
    x, slope = node.need(0), node.need(1)
    count = slope.dim(0)
    if slope.rank != 1 or count == 1 or x.rank in (1, 2):
        return None
    if x.rank is None or x.dim(1) is None or count is None:
        return Unknown(f"sizes of {x.name}")
    return x.dim(1) == count


@rule(
    "AveragePool",
    feature="attr:AveragePool.ceil_mode",
    versions="..openvino2024.0",
    severity=WRONG,
    source="openvinotoolkit/openvino issue 33369 (2026.0: [17,17] by windows and strides of 2"
    " gives 10, not 9) and pull request 36714, which mends it; 2026.4.1 is right",
)
def window_after_the_end(node: NodeView, target: Target) -> Answer:
    """OpenVINO's AveragePool with ceil_mode adds a window that begins past the end."""
    return window_begins_after(node)
