"""Pools, transposed convolutions and resizing that releases of ONNX Runtime compute wrongly.

Each was run here in the releases that its source names.
"""

from __future__ import annotations

from graphfix.engines.pool_windows import (
    ends_of_full_windows,
    pool_windows,
    window_begins_after,
)
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView


@rule(
    "AveragePool",
    feature="attr:AveragePool.ceil_mode=1",
    versions="..ort-1.28",
    severity=WRONG,
    source="microsoft/onnxruntime pull requests 29629 (opsets 7 to 18) and 16752 (opset 19, which"
    " mends it there); seen here in 1.6.0 to 1.28.0 up to opset 18, in 1.16.3 to 1.20.1 from 19 on",
)
def counted_beyond_the_end(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime divides averages by whole windows that reach beyond the padded input."""
    if not node.attr("ceil_mode", 0) or not node.attr("count_include_pad", 0):
        return None
    if node.opset >= 19 and target.version > (1, 20):
        return None
    return bool(ends_of_full_windows(node))


@rule(
    "AveragePool",
    feature="attr:AveragePool.count_include_pad",
    versions="ort-1.21..ort-1.24",
    severity=WRONG,
    source="microsoft/onnxruntime issues 24681 and 26708, pull request 27375 (pads of one axis are"
    " read for another); seen here in 1.21.1 to 1.24.4, not in 1.20.1 and 1.25.1",
)
def counted_by_another_axis(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime from opset 19 on counts the padding of one axis by that of another."""
    if node.opset < 19 or not node.attr("count_include_pad", 0):
        return None
    automatic = node.attr("auto_pad", "NOTSET")
    if automatic not in ("SAME_LOWER", "SAME_UPPER"):
        return misreads_ends([int(size) for size in node.attr("pads", ())])
    pads = _automatic_pads(node, at_end=automatic == "SAME_UPPER")
    return misreads_ends(pads) and Yes(feature="attr:AveragePool.auto_pad")


def misreads_ends(pads: list[int]) -> bool:
    """Say whether a pad is smaller where the kernel reads than where it is meant."""
    half = len(pads) // 2
    read = {2: (1, 3), 3: (1, 3, 5)}.get(half, ())  # what stands for the ends of the axes
    return any(pads[place] < pads[half + axis] for axis, place in enumerate(read))


def _automatic_pads(node: NodeView, *, at_end: bool) -> list[int]:
    """Return the pads of SAME_UPPER or SAME_LOWER; none where a size is not known."""
    axes = pool_windows(node) or []
    whole = [max((-(-size // step) - 1) * step + wide - size, 0) for size, wide, step, *_ in axes]
    less, more = [pad // 2 for pad in whole], [pad - pad // 2 for pad in whole]
    return [*less, *more] if at_end else [*more, *less]


@rule(
    ("AveragePool", "MaxPool"),
    feature="attr:{op}.ceil_mode=1",
    versions="..ort-1.20",
    severity=WRONG,
    source="microsoft/onnxruntime issues 15446 and 16350, pull request 16752; seen here in 1.6.0 to"
    " 1.20.1, not in 1.21.1: the result has a row too many",
)
def window_in_the_padding(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime before 1.21 has results for windows that begin in the padding at the end."""
    return window_begins_after(node)


@rule(
    "ConvTranspose",
    feature="attr:ConvTranspose.auto_pad",
    versions="..ort-1.12",
    severity=WRONG,
    source="microsoft/onnxruntime issues 4086, 9370 and 11927, pull request 12537; seen here in"
    " 1.6.0 to 1.12.1, not in 1.13.1",
)
def transposed_padding_at_the_other_end(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime before 1.13 puts the odd pad of SAME_UPPER and SAME_LOWER at the other end."""
    if node.attr("auto_pad", "NOTSET") not in ("SAME_LOWER", "SAME_UPPER"):
        return None
    kernel = node.attr("kernel_shape") or (node.need(1).static_shape or ())[2:]
    if not kernel:
        return None
    ones, none = [1] * len(kernel), [0] * len(kernel)
    strides, dilations = node.attr("strides", ones), node.attr("dilations", ones)
    extra = node.attr("output_padding", none)
    pads = [
        (int(size) - 1) * hole + 1 - step + more
        for size, step, hole, more in zip(kernel, strides, dilations, extra, strict=True)
    ]
    return any(pad > 0 and pad % 2 for pad in pads)


@rule(
    "Resize",
    feature="attr:Resize.mode=linear",
    versions="ort-1.10..ort-1.11",
    severity=WRONG,
    source="microsoft/onnxruntime issue 12019 (elements are missing) and pull request 10824; seen"
    " here in 1.10.0 and 1.11.1 with [1,4,5,3] by [1,2,1.5,1], not in 1.12.1",
)
def images_with_channels_last(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime 1.10 and 1.11 resize images with channels last as if these were first."""
    if node.attr("mode", "nearest") != "linear":
        return None
    x, y = node.need(0).static_shape, _output_sizes(node)
    if x is None or y is None or len(x) != 4:
        return None
    return x[0] == y[0] and x[3] == y[3] and x[1] != y[1]


@rule(
    "Resize",
    feature="attr:Resize.mode=cubic",
    versions="..ort-1.21",
    severity=REJECT,
    text="'Cubic' mode only support 2-D inputs ('Bicubic') or 4-D inputs with the corresponding "
    "outermost 2 scale values being 1 in the Resize operator",
    source="measured with [1,8,8,3] by [1,2,2,1] on 1.16.3, 1.20.1, 1.21.1 and 1.22.1, the first"
    " that runs it; 1.32 writes it where it moves a Transpose past the Resize",
)
def cubic_with_channels_last(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime before 1.22 computes cubic Resize along the last two axes alone."""
    x, y = node.need(0), node.output(0)
    if node.attr("mode", "nearest") != "cubic" or x.rank != 4 or y is None:
        return None
    sizes = [(x.dim(axis), y.dim(axis)) for axis in (0, 1)]
    return any(None not in pair and pair[0] != pair[1] for pair in sizes)


def _output_sizes(node: NodeView) -> tuple[int, ...] | None:
    result = node.output(0)
    return None if result is None else result.static_shape


@rule(
    "Celu",
    feature="op:Celu",
    versions="..ort-1.7",
    severity=WRONG,
    source="microsoft/onnxruntime issue 6906 and pull request 6995, which mends it in 1.8; seen"
    " here in 1.6.0 with alpha -0.5",
)
def slope_below_zero(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime before 1.8 computes Celu of a negative alpha wrongly."""
    return float(node.attr("alpha", 1.0)) < 0
