"""RKNN: windows of pools."""

from __future__ import annotations

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.engines.profile import Target
from graphfix.engines.rknn.rules.toolkit import TOOLKIT
from graphfix.engines.rule import REJECT, Answer, rule
from graphfix.ir.views import NodeView


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
