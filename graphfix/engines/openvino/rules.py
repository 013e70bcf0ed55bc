"""What OpenVINO computes wrongly beyond single types, ranks and attributes of an operator."""

from __future__ import annotations

from graphfix.authoring.views import NodeView
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, rule
from graphfix.engines.rule_makers import ignores_sparse_initializers, refuses_rank
from graphfix.operators.table import REDUCTIONS
from graphfix.schemas import form_of

_MEASURED = "measured with benchmarks.engines.kernels on the wheels"
_AXES_SINCE = 18
_AXES = tuple(op for op in REDUCTIONS if op != "ReduceSum")  # which took them from 13 on
_BYTES = tuple(
    f"com.microsoft::QLinear{name}"
    for name in (
        "Add",
        "AveragePool",
        "Concat",
        "LeakyRelu",
        "Mul",
        "Sigmoid",
        "Softmax",
        "Where",
    )
)

grid_sample_of_images = refuses_rank(
    "GridSample",
    0,
    range(4, 5),
    versions="openvino",
    text="GridSample is only supported for 4D input tensors. Got rank: {rank}",
    source="grid_sample.cpp:23 of the ONNX frontend (2026.4.1), as its refusal says",
)


@rule(
    _AXES,
    feature="form:{op}.axes-input",
    versions="..openvino2024.0",
    severity=WRONG,
    source=f"{_MEASURED} 2024.0.0: ReduceMean of opset 18 with axes [-2] gives the mean of all",
)
def reduction_ignores_axes_input(node: NodeView, target: Target) -> Answer:
    """{op} of opset 18 and above does not read its axes, and reduces all of them."""
    form = form_of(node.op, node.opset)
    return form is not None and form.since >= _AXES_SINCE and node.input(1) is not None


@rule(
    ("AveragePool", "MaxPool"),
    feature="attr:{op}.dilations",
    versions="openvino",
    severity=WRONG,
    source=f"{_MEASURED} 2026.4.1: the sizes of the output are those of a window without holes",
)
def dilated_pool_of_same_size(node: NodeView, target: Target) -> Answer:
    """{op} with holes in its window is padded to the same size as if it had none."""
    holes = any(step != 1 for step in node.attr("dilations", []))
    return holes and str(node.attr("auto_pad", "NOTSET")).startswith("SAME")


@rule(
    "AveragePool",
    feature="attr:AveragePool.dilations",
    versions="..openvino2024.0",
    severity=WRONG,
    source=f"{_MEASURED} 2024.0.0: the dilations are not read",
)
def average_pool_ignores_dilations(node: NodeView, target: Target) -> Answer:
    """AveragePool does not read its dilations."""
    return any(step != 1 for step in node.attr("dilations", []))


@rule(
    ("AveragePool", "MaxPool"),
    feature="shape:{op}.window",
    versions="openvino",
    severity=REJECT,
    text="Kernel after dilation has size (dim: {size}) larger than the data shape after padding",
    source="pooling_shape_inference_util.hpp:149 (2026.4.1), as its refusal says",
)
def window_beyond_data(node: NodeView, target: Target) -> Answer:
    """The window of {op} is larger than the padded input."""
    data, kernel = node.need(0), node.attr("kernel_shape")
    if kernel is None or data.shape is None or len(data.shape) != len(kernel) + 2:
        return None
    if str(node.attr("auto_pad", "NOTSET")).startswith("SAME"):
        return None
    count = len(kernel)
    pads = node.attr("pads", [0] * (2 * count))
    gaps = node.attr("dilations", [1] * count)
    for axis, (size, width) in enumerate(zip(data.shape[2:], kernel, strict=True)):
        if isinstance(size, int) and size + pads[axis] + pads[count + axis] < (
            (width - 1) * gaps[axis] + 1
        ):
            return True
    return None


@rule(
    "AveragePool",
    feature="shape:AveragePool.pads",
    versions="openvino2026.4..",
    severity=REJECT,
    text="Check '!op->get_exclude_pad() || ((kernel > pad_begin) && (kernel > pad_end))' failed",
    source="avg_pool_shape_inference.hpp:24 (2026.4.1), as its refusal says; measured at opsets 7 "
    "to 19: MaxPool and padding that counts are taken",
)
def pads_as_wide_as_the_window(node: NodeView, target: Target) -> Answer:
    """Padding that does not count is as wide as the window."""
    kernel = [int(size) for size in node.attr("kernel_shape", ())]
    if node.attr("count_include_pad", 0) or node.attr("auto_pad", "NOTSET") != "NOTSET":
        return None
    gaps = node.attr("dilations", [1] * len(kernel))
    wide = [(size - 1) * int(gap) + 1 for size, gap in zip(kernel, gaps, strict=True)]
    pads = [int(size) for size in node.attr("pads", ())]
    return any(pad >= size for pad, size in zip(pads, wide * 2, strict=False))


@rule(
    _BYTES,
    feature="op:com.microsoft::{op}",
    versions="openvino2026.4..",
    severity=WRONG,
    source="measured on 2026.4.1, graphfix/engines/openvino/facts/asked.json: qlinear and others",
)
def bytes_cut_off(node: NodeView, target: Target) -> Answer:
    """{op} cuts the fraction of its results off and keeps the lowest 8 bits of what is beyond."""
    return True


SPARSE_INITIALIZER = ignores_sparse_initializers(
    versions="openvino2026.4..", source='measured on 2026.4.1: "pop from empty list"'
)
