"""Slice, Split, Pad, Gather*, Scatter*: taking parts and putting them together."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.operands import has_negative_pads
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.rule_makers import has_uneven_parts
from graphfix.engines.tensorrt.rules.parsed import is_weights, opset_of
from graphfix.ir.views import NodeView, needed


@rule(
    "Slice",
    feature="form:Slice.steps-without-axes",
    versions="trt8..trt10.1",
    severity=REJECT,
    text="segmentation fault",
    source="builtin_op_importers.cpp:4500 (8.6.1), onnxOpImporters.cpp:5320 (10.1): inputs.at(3) "
    "is a null tensor and is used",
)
def slice_without_axes(node: NodeView, target: Target) -> Answer:
    """TensorRT crashes on Slice with steps but no axes."""
    inputs = node.node.inputs
    return len(inputs) > 3 and node.input(3) is None


@rule(
    "Slice",
    feature="form:Slice.duplicate-axes",
    versions="trt7.0..",
    severity=REJECT,
    text='Assertion failed: ends.size() == axes.size() && "The shape of input ends misaligns with '
    'the shape of input axes."',
    source="builtin_op_importers.cpp:4503-4504, 4552 (8.6.1)",
)
def slice_lengths(node: NodeView, target: Target) -> Answer:
    """TensorRT requires starts and ends of Slice for each of its axes, none twice."""
    starts, ends, axes = node.input(1), node.input(2), node.input(3)
    if starts is None or ends is None:
        return None
    data = node.need(0)
    count = data.rank if axes is None else axes.dim(0)
    if count is None:
        return None
    lengths = {size for size in (starts.dim(0), ends.dim(0)) if size is not None}
    if lengths - {count}:
        return Yes(feature="form:Slice.lengths")
    values = axes.array() if axes is not None and is_weights(axes) else None
    if values is None or data.rank is None or not data.rank:
        return None
    seen = {int(axis) % data.rank for axis in values.flatten()}
    return len(seen) < values.size and Yes(
        text='Assertion failed: ... && "No duplicated axes are allowed."'
    )


@rule(
    "Split",
    feature="form:Split.uneven",
    versions="..trt9.3",
    severity=WRONG,
    source="builtin_op_importers.cpp:4703 (8.6.1): floorDiv(dim, number of outputs);"
    " NVIDIA/TensorRT issue 3466 (8.6.1: parts of 1 of an axis of 7)",
)
def split_uneven(node: NodeView, target: Target) -> Answer:
    """TensorRT drops elements where Split does not divide the axis evenly."""
    return has_uneven_parts(node)


@rule(
    "Gather",
    feature="shape:Gather.shape-tensor",
    versions="trt6-fulldims",
    severity=REJECT,
    text="Assertion failed: !(data->getType() == nvinfer1::DataType::kINT32 && nbDims == 1) && "
    '"Cannot perform gather on a shape tensor!"',
    source="builtin_op_importers.cpp: importGather (6.0-full-dims)",
)
def gather_on_shape(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support Gather on a 1D integer tensor."""
    data = node.input(0)
    if data is None:
        return None
    if not data.elem_type:
        return Unknown(f"dtype of {data.name}")
    if data.type_name not in ("int32", "int64"):
        return None
    return Unknown(f"rank of {data.name}") if data.rank is None else data.rank == 1


@rule(
    "ScatterND",
    feature="attr:ScatterND.reduction",
    versions="trt10.0..",
    severity=REJECT,
    text="Attribute reduction is not supported.",
    source="onnxOpCheckers.cpp: checkScatterND (10.0)",
)
def scatter_nd_reduction(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support a reduction of ScatterND, before 10.9 not even none."""
    if "reduction" not in node.node.attrs:
        return None
    found = node.attr("reduction")
    if target.level >= (10, 9):
        return found != "none" and Yes(
            feature=f"attr:ScatterND.reduction={found}",
            text="ScatterND with reduction is not supported.",
        )
    return Yes(feature=f"attr:ScatterND.reduction={found}")


@rule(
    ("ScatterElements", "Scatter"),
    feature="rank:ScatterElements",
    versions="trt8.2..",
    severity=REJECT,
    text="Assertion failed: indicesDims.d[i] <= dataDims.d[i] && "
    '"Indices dimensions must be less than data dimensions!"',
    source="onnx2trt_utils.cpp:2090-2105 (8.6.1), importerUtils.cpp:2039-2079 (10.1)",
)
def scatter_elements_dims(node: NodeView, target: Target) -> Answer:
    """TensorRT requires indices and updates of {op} no larger than the data in any axis."""
    if target.level >= (10, 0) and node.attr("reduction", "none") != "none":
        return None  # a plugin of its own
    data = node.need(0)
    for index in (1, 2):
        other = node.input(index)
        if other is None or other.rank is None or data.rank is None:
            continue
        if other.rank != data.rank:
            return Yes(
                text="Assertion failed: dataDims.nbDims == indicesDims.nbDims && dataDims.nbDims "
                '== updatesDims.nbDims && "Input dimensions to ScatterElements must have the same '
                'rank!"'
            )
        for axis in range(data.rank):
            size, limit = other.dim(axis), data.dim(axis)
            if size is not None and limit is not None and size > limit:
                return True
    return None


@rule(
    "Pad",
    feature="form:Pad.axes",
    versions="trt8.5..trt10.3",
    severity=REJECT,
    text='Assertion failed: false && "TensorRT does not support dynamic axes for pad!"',
    source="builtin_op_importers.cpp:3312 (8.6.1)",
)
def pad_axes(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support the axes input of Pad-18; from 10.0 on it must be constant."""
    axes = node.input(3)
    return axes is not None and not (target.level >= (10, 0) and is_weights(axes))


@rule(
    "Pad",
    feature="attr:Pad.mode",
    versions="trt5.1..trt8.1",
    severity=REJECT,
    text='"This version of TensorRT only supports constant 0 padding!"',
    source="builtin_op_importers.cpp: importPad (8.0), 2219-2232 (7.1)",
)
def pad_mode_constant(node: NodeView, target: Target) -> Answer:
    """TensorRT supports Pad with mode constant and value 0 only."""
    found = node.attr("mode", "constant")
    if found != "constant":
        return Yes(feature=f"attr:Pad.mode={found}")
    value = node.input(2)
    if value is None:
        return bool(node.attr("value", 0.0)) and Yes(feature="attr:Pad.value")
    if not is_weights(value):
        return Yes(feature="const:Pad.constant_value")
    array = value.array()
    return array is not None and bool(array.any()) and Yes(feature="attr:Pad.value")


@rule(
    "Pad",
    feature="attr:Pad.outer-dims",
    versions="trt5.1..trt8.1",
    severity=REJECT,
    text='"This version of TensorRT only supports padding on the outer two dimensions!"',
    source="builtin_op_importers.cpp:2219-2232 (7.1), importPad (8.0)",
)
def pad_dims(node: NodeView, target: Target) -> Answer:
    """TensorRT pads the last two axes only."""
    pads = node.attr("pads")
    if pads is None:
        value = node.input(1)
        array = value.array() if value is not None else None
        pads = None if array is None else array.flatten().tolist()
    if pads is None:
        return None
    rank = len(pads) // 2
    return any(pads[axis] or pads[axis + rank] for axis in range(rank - 2))


@rule(
    "Pad",
    feature="attr:Pad.negative",
    versions="trt8.2..trt8",
    severity=REJECT,
    text="Assertion failed: convertOnnxPadding(ctx, nbDims, onnxPadding, start, totalPadding) && "
    '"Failed to convert padding!"',
    source="builtin_op_importers.cpp:3359, onnx2trt_utils.cpp:410 (8.6.1)",
)
def pad_negative(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support negative pads."""
    value = node.input(1)
    return has_negative_pads(node) if value is None or is_weights(value) else None


@rule(
    "Pad",
    feature="shape:Pad.pads-length",
    versions="trt8.2..",
    severity=REJECT,
    text="Assertion failed: onnxPaddingPtr->getDimensions().d[0] == nbDims * 2 && "
    '"pads should be a 1D tensor of shape [2 * input_rank]"',
    source="builtin_op_importers.cpp:3327 (8.6.1)",
)
def pad_length(node: NodeView, target: Target) -> Answer:
    """TensorRT requires a static length of computed pads: twice the rank."""
    pads, data = node.input(1), node.need(0)
    if node.input(3) is not None and target.level >= (10, 0):
        return None
    if pads is None or is_weights(pads) or opset_of(node) < 11:
        return None
    if pads.rank is None or data.rank is None:
        return Unknown(f"shape of {pads.name}")
    length = needed(pads.dim(0), f"length of {pads.name}")
    return length != 2 * data.rank
