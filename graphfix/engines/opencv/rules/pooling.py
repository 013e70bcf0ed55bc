"""Windows that slide: pooling."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.opencv.unread import is_cut_off
from graphfix.engines.pool_windows import (
    ends_of_full_windows,
    pool_windows,
    sizes_are_open,
    window_is_larger,
    window_sticks_out,
)
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, rule
from graphfix.engines.rule_makers import adds_a_window
from graphfix.ir.views import NodeView

WINDOW_PAST_THE_END = adds_a_window(
    versions="opencv",
    source="measured on 4.8.1, 4.10.0 and 5.0.0: a window of 2 by strides of 3 over 9 gives 4",
)


@rule(
    "AveragePool",
    feature="attr:AveragePool.count_include_pad",
    severity=WRONG,
    source="measured on 4.8.1, 4.10.0 and 5.0.0: the padding is counted where the file names the"
    " producer pytorch, and nowhere else, whatever count_include_pad says; by 5.0.0 only where that"
    " is left out",
)
def average_of_padding(node: NodeView, target: Target) -> Answer:
    """OpenCV ignores count_include_pad and decides by the producer name of the file."""
    wanted = bool(node.attr("count_include_pad", 0))
    counts = node.graph.root.producer == "pytorch"
    if target.version >= (5,) and node.has("count_include_pad"):
        counts = wanted
    return wanted != counts and _is_padded(node)


def _is_padded(pool: NodeView) -> bool:
    if any(pool.attr("pads", ())):
        return True
    return pool.attr("auto_pad", "NOTSET") in ("SAME_UPPER", "SAME_LOWER")


@rule(
    "AveragePool",
    feature="attr:AveragePool.count_include_pad",
    versions="opencv5.0..",
    severity=WRONG,
    source="measured on 5.0.0: what windows reach beyond the padding is counted, too; that"
    " is right where nothing reads what these give, as after a Slice",
)
def average_beyond_padding(node: NodeView, target: Target) -> Answer:
    """OpenCV's average counts positions past the padding that ceil_mode adds; ONNX does not."""
    if not (node.attr("count_include_pad", 0) and node.attr("ceil_mode", 0)):
        return False
    if sizes_are_open(node):
        return Unknown(f"sizes of {node.need(0).name}")
    result, ends = node.output(0), ends_of_full_windows(node)
    return result is None or ends is None or not is_cut_off(result, ends)


@rule(
    "MaxPool",
    feature="form:MaxPool.indices",
    severity=WRONG,
    source="measured: counted in each channel on 4.10.0; test_maxpool_with_argmax_2d on 5.0.0",
)
def pool_indices(node: NodeView, target: Target) -> Answer:
    """OpenCV returns different MaxPool indices than ONNX."""
    indices = node.output(1)
    if indices is None or not (indices.is_used or indices.is_graph_output):
        return False
    return target.version < (5,) or bool(node.attr("storage_order", 0))


@rule(
    ("AveragePool", "MaxPool"),
    feature="shape:{op}.window",
    versions="..opencv4.10",
    severity=REJECT,
    source="measured on 4.10.0: an output without elements, which the next layer refuses",
)
def pool_window(node: NodeView, target: Target) -> Answer:
    """OpenCV does not support {op} with a kernel larger than its padded input."""
    return window_is_larger(node)


@rule(
    "com.microsoft::QLinearAveragePool",
    feature="op:com.microsoft::QLinearAveragePool",
    versions="opencv5.0..",
    severity=WRONG,
    source="measured on 5.0.0: [1,2,4,4] with windows of 3, strides of 1 and 2 and pads of 0 and 1;"
    " with channels_last",
)
def average_of_bytes(node: NodeView, target: Target) -> Answer:
    """OpenCV ignores the padding mode, ceil_mode or channels_last of QLinearAveragePool."""
    padded = _is_padded(node)
    if node.attr("channels_last", 0) or (padded and not node.attr("count_include_pad", 0)):
        return True
    if node.attr("ceil_mode", 0) and not padded:
        return False
    data = node.input(0)
    if pool_windows(node) is None and data is not None:
        return Unknown(f"sizes of {data.name}")
    return window_sticks_out(node)
