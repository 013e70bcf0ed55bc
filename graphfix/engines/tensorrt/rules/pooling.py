"""Pooling: how many windows the engine counts when it rounds up, and paddings that it refuses."""

from __future__ import annotations

from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.tensorrt.rules.parsed import opset_of
from graphfix.ir.views import NodeView


@rule(
    ("MaxPool", "AveragePool", "LpPool"),
    feature="form:Pool.ceil_mode",
    versions="trt7.0..",
    severity=WRONG,
    source="onnx2trt_utils.cpp:1493 (8.6.1), importerUtils.cpp:1415 (10.1); NvInfer.h 8.6.1: "
    "PaddingMode::kEXPLICIT_ROUND_UP",
)
def pool_last_window(node: NodeView, target: Target) -> Answer:
    """TensorRT keeps a window of {op} that starts in the end padding; ONNX drops it."""
    if not _rounds_up(node):
        return None
    data = node.need(0)
    kernel = node.attr("kernel_shape")
    if kernel is None or data.shape is None or len(data.shape) != len(kernel) + 2:
        return None
    for axis, width in enumerate(kernel):
        size = data.dim(2 + axis)
        if size is None:
            continue
        dropped, kept = _sizes(node, axis, size, int(width))
        if node.op == "LpPool" and target.level < (10, 0):
            kept = _floor(node, axis, size, int(width))  # ceil_mode is not read
        if dropped != kept:
            return Yes(
                feature=f"form:{node.op}.ceil_mode",
                message=f"TensorRT computes {kept} elements along axis {2 + axis}; ONNX {dropped}",
            )
    return None


def _rounds_up(node: NodeView) -> bool:
    first = 10 if node.op != "LpPool" else 18
    same = node.attr("auto_pad", "NOTSET") in ("SAME_UPPER", "SAME_LOWER")
    dilated = any(step != 1 for step in node.attr("dilations", []))
    return bool(node.attr("ceil_mode", 0)) and opset_of(node) >= first and not same and not dilated


def _room(node: NodeView, axis: int, size: int, width: int) -> tuple[int, int, int]:
    count = len(node.attr("kernel_shape"))
    pads = node.attr("pads", [0] * (2 * count))
    stride = int(node.attr("strides", [1] * count)[axis])
    return size + int(pads[axis]) + int(pads[count + axis]) - width, stride, int(pads[axis])


def _floor(node: NodeView, axis: int, size: int, width: int) -> int:
    room, stride, _ = _room(node, axis, size, width)
    return room // stride + 1


def _sizes(node: NodeView, axis: int, size: int, width: int) -> tuple[int, int]:
    """Return the number of windows as ONNX counts them, and rounded up."""
    room, stride, begin = _room(node, axis, size, width)
    kept = -(-room // stride) + 1
    starts_in_padding = (kept - 1) * stride >= size + begin
    return (kept - 1 if starts_in_padding else kept), kept


@rule(
    "AveragePool",
    feature="attr:AveragePool.pads",
    versions="trt10.15..",
    severity=REJECT,
    text="the padding size is larger than or equal to the filter size for exclusive-counting "
    "pooling",
    source="tensorrt-rtx 1.4.0 to 1.7.1: poolingLayer.cpp:64",
)
def average_pool_wide_pads(node: NodeView, target: Target) -> Answer:
    """TensorRT requires pads smaller than the kernel if count_include_pad is 0."""
    kernel, pads = node.attr("kernel_shape"), node.attr("pads", [])
    if kernel is None or node.attr("count_include_pad", 0):
        return None
    if node.attr("auto_pad", "NOTSET") != "NOTSET":
        return None
    return any(int(pad) >= int(kernel[i % len(kernel)]) for i, pad in enumerate(pads))
