"""RKNN: windows of pools."""

from __future__ import annotations

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.authoring.declaring import Unknown
from graphfix.engines.pool_windows import ends_of_full_windows, window_sticks_out
from graphfix.engines.profile import Target
from graphfix.engines.rknn.rules.toolkit import TOOLKIT
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView

_VOLUME = 3  # spatial dimensions


@rule(
    ("AveragePool", "MaxPool"),
    feature="shape:{op}.pads",
    severity=REJECT,
    text="Pad should be smaller than kernel",
    source=f"{TOOLKIT}: the onnxruntime 1.17 that it computes sizes with, for opsets 9 to 17",
)
def pads_as_wide_as_windows(node: NodeView, target: Target) -> Answer:
    """RKNN requires pads of {op} to be smaller than its kernel."""
    x = node.input(0)
    if x is None or known_with_sizes(x):
        return False
    pads = [int(size) for size in node.attr("pads", ())]
    windows = [int(size) for size in node.attr("kernel_shape", ())]
    if len(pads) != 2 * len(windows):
        return False
    return any(pad >= window for pad, window in zip(pads, windows * 2, strict=True))


@rule(
    "AveragePool",
    feature="shape:AveragePool.pads",
    severity=WRONG,
    source=f"{TOOLKIT}: with padding that counts it ends with SIGABRT; with automatic padding or"
    " dilations it does not build; full windows of any size and stride are equal",
)
def volumes_beyond_their_end(node: NodeView, target: Target) -> Answer:
    """RKNN computes AveragePool of three spatial dimensions wrongly where windows are not full."""
    x = node.input(0)
    windows = node.attr("kernel_shape", ())
    if x is None or len(windows) != _VOLUME or known_with_sizes(x):
        return False
    if node.attr("auto_pad", "NOTSET") in ("SAME_LOWER", "SAME_UPPER"):
        return Yes(severity=REJECT)
    if any(int(step) != 1 for step in node.attr("dilations", ())):
        return Yes(feature="attr:AveragePool.dilations", severity=REJECT)
    if any(node.attr("pads", ())):
        return Yes(severity=REJECT) if node.attr("count_include_pad", 0) else True
    beyond = bool(node.attr("ceil_mode", 0)) and window_sticks_out(node)
    return beyond and Yes(feature="attr:AveragePool.ceil_mode=1")


@rule(
    "AveragePool",
    feature="attr:AveragePool.count_include_pad",
    severity=WRONG,
    source=f"{TOOLKIT}, whose averages are those of onnxruntime 1.17 (microsoft/onnxruntime pull"
    " request 29629): [4,4] with windows of 3 by strides of 2 and pads of 1",
)
def average_beyond_the_end(node: NodeView, target: Target) -> Answer:
    """RKNN's average counts positions past the padding that ceil_mode adds; ONNX does not."""
    if not (node.attr("count_include_pad", 0) and node.attr("ceil_mode", 0)):
        return None
    ends = ends_of_full_windows(node)
    return Unknown(f"sizes of {node.need(0).name}") if ends is None else bool(ends)
