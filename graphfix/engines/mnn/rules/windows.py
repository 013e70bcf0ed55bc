"""MNN: convolutions of lines, padding, indices of pools and what samples images."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.mnn.rules.wheel import WHEEL
from graphfix.engines.operands import has_negative_pads
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView


@rule(
    "GridSample",
    feature="attr:GridSample.mode",
    severity=WRONG,
    source=f"{WHEEL}: bilinear and nearest with zeros or the border are equal",
)
def grid_sample_modes(node: NodeView, target: Target) -> Answer:
    """MNN computes cubic or reflected GridSample as linear with border padding."""
    mode, padding = node.attr("mode", "linear"), node.attr("padding_mode", "zeros")
    if mode in ("bicubic", "cubic"):
        return Yes(feature="attr:GridSample.mode=cubic")
    if padding == "reflection":
        return Yes(feature="attr:GridSample.padding_mode=reflection")
    return None


@rule(
    "Resize",
    feature="attr:Resize.mode=cubic",
    severity=WRONG,
    source=f"{WHEEL}: asymmetric and align_corners are equal, and so is what changes no size",
)
def resize_cubic(node: NodeView, target: Target) -> Answer:
    """MNN computes cubic Resize with half-pixel coordinates wrongly."""
    where = node.attr("coordinate_transformation_mode", "half_pixel")
    if node.attr("mode", "nearest") != "cubic" or "half_pixel" not in where:
        return None
    x, y = node.input(0), node.output(0)
    before, after = (None if v is None else v.static_shape for v in (x, y))
    return Unknown("whether a size changes") if None in (before, after) else before != after


@rule(
    "Pad",
    feature="form:Pad.negative",
    severity=WRONG,
    source=WHEEL,
)
def negative_padding(node: NodeView, target: Target) -> Answer:
    """MNN crops the wrong elements for negative pads."""
    return has_negative_pads(node)


@rule(
    ("Conv", "ConvTranspose"),
    feature="rank:{op}.3",
    severity=WRONG,
    source=f"{WHEEL}: the output has a fourth axis; what reads it in the graph knows",
)
def convolved_line_as_output(node: NodeView, target: Target) -> Answer:
    """MNN adds a fourth axis to a 1D {op} that is an output of the model."""
    x, y = node.input(0), node.output(0)
    if x is None or y is None or not y.tensor.output_count or node.graph.parent is not None:
        return None
    if x.rank is None:
        return Unknown(f"rank of {x.name}")
    return x.rank == 3


@rule(
    ("Upsample", "Resize"),
    feature="const:{op}.scales",
    severity=REJECT,
    text="run returned 0 of 1 outputs",
    source=f"{WHEEL}: sizes may be computed",
)
def computed_scales(node: NodeView, target: Target) -> Answer:
    """MNN requires constant scales of {op}."""
    scales = node.input(1 if node.op == "Upsample" or node.opset < 11 else 2)
    return scales is not None and not scales.is_constant
