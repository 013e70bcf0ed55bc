"""MNN: what its converter takes without a word and computes otherwise, and what ends its process.

All of it was measured on the wheel 3.6.1 against onnxruntime, a model for each. What depends on the
operator, its element types and ranks alone is in the profile.
"""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.authoring.views import NodeView
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule

_WHEEL = "measured on MNN 3.6.1"
_BY_BITS = frozenset({"And", "Equal", "Or", "Xor"})


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


@rule(
    "GridSample",
    feature="attr:GridSample.mode",
    versions="mnn",
    severity=WRONG,
    source=f"{_WHEEL}: bilinear and nearest with zeros or the border are equal",
)
def grid_sample_modes(node: NodeView, target: Target) -> Answer:
    """Cubic GridSample, and one that reflects, are computed as linear ones with the border."""
    mode, padding = _text(node.attr("mode", "linear")), _text(node.attr("padding_mode", "zeros"))
    if mode in ("bicubic", "cubic"):
        return Yes(feature="attr:GridSample.mode=cubic")
    if padding == "reflection":
        return Yes(feature="attr:GridSample.padding_mode=reflection")
    return None


@rule(
    "Mod",
    feature="attr:Mod.fmod=1",
    versions="mnn",
    severity=WRONG,
    source=f"{_WHEEL}: fmod of -5 and 3 gives 1",
)
def mod_truncated(node: NodeView, target: Target) -> Answer:
    """Mod with fmod of floats gives the sign of the divisor."""
    x = node.input(0)
    if not node.attr("fmod", 0) or x is None:
        return None
    if not x.elem_type:
        return Unknown(f"dtype of {x.name}")
    return x.dtype is None or x.dtype.kind == "f"


@rule(
    ("GatherND", "GatherElements"),
    feature="form:{op}.negative-indices",
    versions="mnn",
    severity=WRONG,
    source=f"{_WHEEL}: it gives 0 or reads other memory; Gather counts from the end",
)
def negative_indices(node: NodeView, target: Target) -> Answer:
    """Indices below 0 read something else."""
    indices = node.input(1)
    array = indices.array() if indices is not None else None
    if array is None or not (array < 0).any():
        return None
    return Yes(feature=f"form:{node.op}.negative-indices")


@rule(
    ("ScatterND", "ScatterElements"),
    feature="attr:{op}.reduction",
    versions="mnn",
    severity=WRONG,
    source=_WHEEL,
)
def scatter_reductions(node: NodeView, target: Target) -> Answer:
    """What is scattered replaces the data instead of being added to it or compared with it."""
    how = _text(node.attr("reduction", "none"))
    if how == "none":
        return None
    return Yes(feature=f"attr:{node.op}.reduction={how}")


@rule(
    "ScatterElements",
    feature="attr:ScatterElements.reduction=none",
    versions="mnn",
    severity=WRONG,
    source=f"{_WHEEL}: equal where the axis stands first, or there is no reduction",
)
def scatter_axis_behind_reduction(node: NodeView, target: Target) -> Answer:
    """An axis that is written behind the reduction is forgotten."""
    names = list(node.node.attrs)
    if "axis" not in names or "reduction" not in names or not int(node.attr("axis")):
        return None
    alone = _text(node.attr("reduction")) == "none"
    return alone and names.index("reduction") < names.index("axis")


@rule(
    ("ScatterElements", "Scatter"),
    feature="form:{op}.negative-indices",
    versions="mnn",
    severity=WRONG,
    source=_WHEEL,
)
def scatter_negative_indices(node: NodeView, target: Target) -> Answer:
    """Indices below 0 write somewhere else."""
    indices = node.input(1)
    array = indices.array() if indices is not None else None
    if array is None or not (array < 0).any():
        return None
    return Yes(feature=f"form:{node.op}.negative-indices")


@rule(
    "AveragePool",
    feature="shape:AveragePool.padded3d",
    versions="mnn",
    severity=WRONG,
    source=f"{_WHEEL}: the divisor is another one, with count_include_pad and without",
)
def padded_average_in_space(node: NodeView, target: Target) -> Answer:
    """An average over three dimensions with padding is divided by something else."""
    x = node.input(0)
    if x is None or not any(node.attr("pads", ())):
        return None
    return Unknown(f"rank of {x.name}") if x.rank is None else x.rank == 5


@rule(
    "Resize",
    feature="attr:Resize.nearest_mode",
    versions="mnn",
    severity=WRONG,
    source=f"{_WHEEL}: ceil and round_prefer_ceil are taken for others",
)
def resize_nearest_mode(node: NodeView, target: Target) -> Answer:
    """Nearest Resize that rounds up takes other elements."""
    how = _text(node.attr("nearest_mode", "round_prefer_floor"))
    if _text(node.attr("mode", "nearest")) != "nearest" or how in ("floor", "round_prefer_floor"):
        return None
    return Yes(feature=f"attr:Resize.nearest_mode={how}")


@rule(
    "Resize",
    feature="attr:Resize.mode=cubic",
    versions="mnn",
    severity=WRONG,
    source=f"{_WHEEL}: asymmetric and align_corners are equal",
)
def resize_cubic(node: NodeView, target: Target) -> Answer:
    """Cubic Resize with pixels at half places computes something else."""
    where = _text(node.attr("coordinate_transformation_mode", "half_pixel"))
    return _text(node.attr("mode", "nearest")) == "cubic" and "half_pixel" in where


@rule(
    "Resize",
    feature="rank:Resize.{rank}",
    versions="mnn",
    severity=REJECT,
    text="double free or corruption; run returned no outputs",
    source=f"{_WHEEL}: of rank 3 it gives zeros, of rank 5 nothing or heap corruption",
)
def resize_linear_rank(node: NodeView, target: Target) -> Answer:
    """Linear Resize takes images alone."""
    x = node.input(0)
    if x is None or _text(node.attr("mode", "nearest")) == "nearest":
        return None
    if x.rank is None:
        return Unknown(f"rank of {x.name}")
    return None if x.rank == 4 else Yes(feature=f"rank:Resize.{x.rank}")


@rule(
    "ArgMax",
    feature="attr:ArgMax.select_last_index",
    versions="mnn",
    severity=WRONG,
    source=_WHEEL,
)
def last_of_the_largest(node: NodeView, target: Target) -> Answer:
    """ArgMax gives the first of several largest, also where the last is asked for."""
    return bool(node.attr("select_last_index", 0))


@rule(
    "Cast",
    feature="form:Cast.to-bool",
    versions="mnn",
    severity=WRONG,
    source=f"{_WHEEL}: 2 stays 2, and And with it is computed bit by bit",
)
def cast_to_bool(node: NodeView, target: Target) -> Answer:
    """A number that is cast to bool stays the number, and what follows computes with its bits."""
    x, y = node.input(0), node.output(0)
    if x is None or y is None or y.type_name != "bool":
        return None
    if not any(user.op in _BY_BITS for user in y.tensor.outputs):
        return None
    return Unknown(f"dtype of {x.name}") if not x.elem_type else x.type_name != "bool"


@rule(
    ("AveragePool", "MaxPool", "LpPool"),
    feature="form:{op}.no-strides",
    versions="mnn",
    severity=REJECT,
    text="SIGFPE",
    source=f"{_WHEEL}: it divides by strides of 0",
)
def no_strides(node: NodeView, target: Target) -> Answer:
    """The strides are left out, and the process ends."""
    return None if node.has("strides") else Yes(feature=f"form:{node.op}.no-strides")


@rule(
    "MaxPool",
    feature="form:MaxPool.indices",
    versions="mnn",
    severity=WRONG,
    source=_WHEEL,
)
def max_indices(node: NodeView, target: Target) -> Answer:
    """The indices of the largest are other numbers."""
    return len(node.outputs) > 1 and node.outputs[1] is not None


@rule(
    "MaxPool",
    feature="attr:MaxPool.dilations",
    versions="mnn",
    severity=WRONG,
    source=f"{_WHEEL}: the shape is that without dilations",
)
def dilated_maximum(node: NodeView, target: Target) -> Answer:
    """Windows are not dilated."""
    return any(int(step) != 1 for step in node.attr("dilations", ()))


@rule(
    ("Softmax", "LogSoftmax"),
    feature="form:{op}.no-axis",
    versions="mnn",
    severity=WRONG,
    source=f"{_WHEEL}: Softmax before opset 13 takes the last axis, LogSoftmax ends the process",
)
def no_axis(node: NodeView, target: Target) -> Answer:
    """The axis is left out, and another one is taken."""
    x = node.input(0)
    if node.has("axis") or (node.op == "Softmax" and node.opset >= 13):
        return None
    if node.op == "Softmax" and x is not None and x.rank == 2:
        return None
    return Yes(feature=f"form:{node.op}.no-axis")


@rule(
    "ConstantOfShape",
    feature="form:ConstantOfShape.no-value",
    versions="mnn",
    severity=WRONG,
    source=f"{_WHEEL}: it gives what the memory held",
)
def no_value(node: NodeView, target: Target) -> Answer:
    """The value to fill with is missing, and anything is filled in."""
    return "value" not in node.node.attrs


@rule(
    ("GRU", "LSTM", "RNN"),
    feature="attr:{op}.direction=reverse",
    versions="mnn",
    severity=WRONG,
    source=f"{_WHEEL}: forward and bidirectional are equal",
)
def reverse_direction(node: NodeView, target: Target) -> Answer:
    """A cell that runs in reverse computes something else."""
    if _text(node.attr("direction", "forward")) != "reverse":
        return None
    return Yes(feature=f"attr:{node.op}.direction=reverse")


@rule(
    "Pad",
    feature="form:Pad.negative",
    versions="mnn",
    severity=WRONG,
    source=_WHEEL,
)
def negative_padding(node: NodeView, target: Target) -> Answer:
    """What negative pads cut off is cut somewhere else."""
    if node.opset < 11:
        return any(int(pad) < 0 for pad in node.attr("pads", ()))
    pads = node.input(1)
    array = pads.array() if pads is not None else None
    return array is not None and bool((array < 0).any())


@rule(
    ("Conv", "ConvTranspose"),
    feature="rank:{op}.3",
    versions="mnn",
    severity=WRONG,
    source=f"{_WHEEL}: the output has a fourth axis; what reads it in the graph knows",
)
def convolved_line_as_output(node: NodeView, target: Target) -> Answer:
    """A convolution along one dimension gives an output of the model one axis more."""
    x, y = node.input(0), node.output(0)
    if x is None or y is None or not y.tensor.output_count or node.graph.parent is not None:
        return None
    if x.rank is None:
        return Unknown(f"rank of {x.name}")
    return Yes(feature=f"rank:{node.op}.3") if x.rank == 3 else None


@rule(
    ("QuantizeLinear", "DequantizeLinear"),
    feature="op:{op}",
    versions="mnn",
    severity=REJECT,
    text="load_module_from_file returned a result with an exception set",
    source=f"{_WHEEL}: one after the other is not loaded, or ends the process, with any type",
)
def quantized_in_place(node: NodeView, target: Target) -> Answer:
    """What is quantized in the graph is not loaded."""
    return Yes(feature=f"op:{node.op}")


@rule(
    "Resize",
    feature="form:Resize.10",
    versions="mnn",
    severity=WRONG,
    source=_WHEEL,
)
def resize_of_opset_10(node: NodeView, target: Target) -> Answer:
    """Resize of opset 10 takes other elements, as if pixels stood at half places."""
    return node.opset == 10
