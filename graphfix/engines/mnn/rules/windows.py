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
    versions="mnn",
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
    feature="attr:Resize.nearest_mode",
    versions="mnn",
    severity=WRONG,
    source=f"{WHEEL}: ceil and round_prefer_ceil are taken for others",
)
def resize_nearest_mode(node: NodeView, target: Target) -> Answer:
    """MNN ignores nearest_mode values of Resize that round up."""
    how = node.attr("nearest_mode", "round_prefer_floor")
    if node.attr("mode", "nearest") != "nearest" or how in ("floor", "round_prefer_floor"):
        return None
    return Yes(feature=f"attr:Resize.nearest_mode={how}")


@rule(
    "Resize",
    feature="attr:Resize.coordinate_transformation_mode=tf_crop_and_resize",
    versions="mnn",
    severity=WRONG,
    source=WHEEL,
)
def resize_crop(node: NodeView, target: Target) -> Answer:
    """MNN computes Resize with tf_crop_and_resize wrongly."""
    mode = node.attr("coordinate_transformation_mode", "half_pixel")
    return bool(mode == "tf_crop_and_resize")


@rule(
    "RoiAlign",
    feature="form:RoiAlign.10",
    versions="mnn",
    severity=WRONG,
    source=f"{WHEEL}: from opset 16 on both coordinate modes are equal",
)
def regions_of_opset_10(node: NodeView, target: Target) -> Answer:
    """MNN shifts the regions of RoiAlign of opset 10 by half a pixel; ONNX does not."""
    return node.opset < 16


@rule(
    "Resize",
    feature="attr:Resize.mode=cubic",
    versions="mnn",
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
    "Resize",
    feature="rank:Resize",
    versions="mnn",
    severity=REJECT,
    text="double free or corruption; run returned no outputs",
    source=f"{WHEEL}: of rank 3 it gives zeros, of rank 5 nothing or heap corruption",
)
def resize_linear_rank(node: NodeView, target: Target) -> Answer:
    """MNN supports linear Resize of rank 4 only."""
    x = node.input(0)
    if x is None or node.attr("mode", "nearest") == "nearest":
        return None
    if x.rank is None:
        return Unknown(f"rank of {x.name}")
    return None if x.rank == 4 else Yes(feature=f"rank:Resize.{x.rank}")


@rule(
    "MaxPool",
    feature="form:MaxPool.indices",
    versions="mnn",
    severity=WRONG,
    source=WHEEL,
)
def max_indices(node: NodeView, target: Target) -> Answer:
    """MNN returns different MaxPool indices than ONNX."""
    return len(node.outputs) > 1 and node.outputs[1] is not None


@rule(
    "MaxPool",
    feature="attr:MaxPool.dilations",
    versions="mnn",
    severity=WRONG,
    source=f"{WHEEL}: the shape is that without dilations",
)
def dilated_maximum(node: NodeView, target: Target) -> Answer:
    """MNN ignores dilations of MaxPool."""
    return any(int(step) != 1 for step in node.attr("dilations", ()))


@rule(
    "Pad",
    feature="form:Pad.negative",
    versions="mnn",
    severity=WRONG,
    source=WHEEL,
)
def negative_padding(node: NodeView, target: Target) -> Answer:
    """MNN crops the wrong elements for negative pads."""
    return has_negative_pads(node)


@rule(
    ("Conv", "ConvTranspose"),
    feature="rank:{op}.3",
    versions="mnn",
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
    "Resize",
    feature="form:Resize.10",
    versions="mnn",
    severity=WRONG,
    source=WHEEL,
)
def resize_of_opset_10(node: NodeView, target: Target) -> Answer:
    """MNN computes Resize of opset 10 with half-pixel coordinates; ONNX uses asymmetric."""
    return node.opset == 10


@rule(
    ("Upsample", "Resize"),
    feature="const:{op}.scales",
    versions="mnn",
    severity=REJECT,
    text="run returned 0 of 1 outputs",
    source=f"{WHEEL}: sizes may be computed",
)
def computed_scales(node: NodeView, target: Target) -> Answer:
    """MNN requires constant scales of {op}."""
    scales = node.input(1 if node.op == "Upsample" or node.opset < 11 else 2)
    return scales is not None and not scales.is_constant
