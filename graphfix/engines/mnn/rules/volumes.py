"""MNN: windows of convolutions and pools over three dimensions."""

from __future__ import annotations

from graphfix.engines.mnn.rules.wheel import WHEEL
from graphfix.engines.operands import has_rank
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView

_CONVOLUTIONS = ("Conv", "ConvTranspose")


@rule(
    _CONVOLUTIONS,
    feature="attr:{op}.dilations",
    severity=WRONG,
    source=f"{WHEEL}: [2, 1, 1]; [1, 2, 2] is equal, and [2, 1, 1] of a window of depth 1",
)
def dilated_in_depth(node: NodeView, target: Target) -> Answer:
    """MNN computes 3D {op} wrongly if it is dilated along the first spatial axis."""
    steps, weights = node.attr("dilations", ()), node.input(1)
    if not steps or int(steps[0]) == 1 or weights is None or weights.dim(2) == 1:
        return None
    return has_rank(node, 5)


@rule(
    "AveragePool",
    feature="shape:AveragePool.padded3d",
    severity=WRONG,
    source=f"{WHEEL}: the divisor is another one, with count_include_pad and without;"
    " of pads in depth alone it is right",
)
def padded_average_in_space(node: NodeView, target: Target) -> Answer:
    """MNN divides a padded 3D AveragePool by a different count than ONNX."""
    pads = [int(pad) for pad in node.attr("pads", ())]
    half = len(pads) // 2
    return any(pads[1:half] + pads[half + 1 :]) and has_rank(node, 5)


@rule(
    ("AveragePool", "GlobalAveragePool", "GlobalMaxPool", "MaxPool"),
    feature="rank:{op}.5",
    severity=WRONG,
    source=f"{WHEEL}: of two in a batch the second is wrong, with any window",
)
def batch_of_volumes(node: NodeView, target: Target) -> Answer:
    """MNN computes 3D {op} correctly only for the first item of the batch."""
    x = node.input(0)
    return None if x is None or x.dim(0) == 1 else has_rank(node, 5)


@rule(
    ("AveragePool", "MaxPool"),
    feature="rank:{op}.5",
    severity=WRONG,
    source=f"{WHEEL}: pads at one end alone give another shape; even ones are equal",
)
def uneven_window_in_space(node: NodeView, target: Target) -> Answer:
    """MNN's 3D {op} ignores ceil_mode and uses equal pads at both ends of an axis."""
    pads = [int(pad) for pad in node.attr("pads", ())]
    half = len(pads) // 2
    if pads[:half] == pads[half:] and not node.attr("ceil_mode", 0):
        return None
    return has_rank(node, 5)


@rule(
    ("AveragePool", "MaxPool", "LpPool"),
    feature="form:{op}.no-strides",
    severity=REJECT,
    text="SIGFPE; SIGSEGV",
    source=f"{WHEEL}: it divides by strides of 0, and reads pads that are missing",
)
def no_strides(node: NodeView, target: Target) -> Answer:
    """MNN crashes when {op} has no strides, or a 3D {op} no pads."""
    if not node.has("strides"):
        return True
    x = node.input(0)
    if node.has("pads") or x is None or x.rank != 5:
        return None
    return Yes(feature=f"form:{node.op}.no-pads")
