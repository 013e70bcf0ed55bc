"""Reshape, Squeeze, Unsqueeze, Transpose, Expand, Shape and their like."""

from __future__ import annotations

from math import prod

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.tensorrt.rules.parsed import is_weights, unknown_rank
from graphfix.ir.views import NodeView

MAX_DIMS = 8
_AXIS = (
    'Assertion failed: (axis >= 0 && axis <= nbDims) && "Axis must be in the range [0, nbDims]."'
)


@rule(
    ("Squeeze", "Unsqueeze"),
    feature="form:Squeeze.axes-input",
    versions="..trt7",
    severity=REJECT,
    text="Attribute not found: axes",
    source="builtin_op_importers.cpp:3066, 3216 (7.0)",
)
def axes_as_attribute(node: NodeView, target: Target) -> Answer:
    """TensorRT requires axes of {op} as an attribute."""
    if "axes" in node.node.attrs:
        return None
    given = node.input(1) is not None
    return Yes(feature=f"form:{node.op}.{'axes-input' if given else 'no-axes'}")


@rule(
    "Squeeze",
    feature="form:Squeeze.no-axes",
    versions="trt8.0..",
    severity=REJECT,
    text='Assertion failed: !isDynamic(shape) && "Cannot infer squeeze dimensions from a dynamic '
    'shape! Please re-export your model with the Squeeze axes input set."',
    source="builtin_op_importers.cpp:4773 (8.6.1)",
)
def squeeze_dynamic(node: NodeView, target: Target) -> Answer:
    """TensorRT requires a static shape of Squeeze without axes."""
    if node.input(1) is not None or node.node.attrs.get("axes"):
        return None
    data = node.need(0)
    return data.static_shape is None and (unknown_rank(data) if data.rank is None else True)


@rule(
    "Squeeze",
    feature="shape:Squeeze.not-1",
    versions="trt7.0..",
    severity=REJECT,
    text="[graphShapeAnalyzer.cpp::analyzeShapes] Error Code 4: Miscellaneous (IShuffleLayer: "
    "reshaping failed for tensor: reshape would change volume)",
    source="onnx2trt_utils.cpp:1660 (8.6.1): squeezeTensor",
)
def squeeze_size(node: NodeView, target: Target) -> Answer:
    """TensorRT: Squeeze of an axis whose size is not 1, or that does not exist."""
    data, given = node.need(0), node.input(1)
    axes = node.attr("axes")
    if given is not None:
        array = given.array() if is_weights(given) else None
        axes = None if array is None else array.flatten().tolist()
    if not axes or data.rank is None:
        return None
    for axis in axes:
        if not _in_range(int(axis), data.rank):
            return Yes(feature="attr:Squeeze.axes", text=_AXIS)
        if data.dim(int(axis)) not in (None, 1):
            return True
    return None


@rule(
    "Unsqueeze",
    feature="attr:Unsqueeze.axes",
    versions="trt7.0..",
    severity=REJECT,
    text=_AXIS,
    source="builtin_op_importers.cpp:5030 (8.6.1): convertAxis",
)
def unsqueeze_range(node: NodeView, target: Target) -> Answer:
    """TensorRT: an axis of Unsqueeze is out of range."""
    data, given = node.need(0), node.input(1)
    axes = node.attr("axes")
    if given is not None:
        array = given.array() if is_weights(given) else None
        axes = None if array is None else array.flatten().tolist()
    if not axes or data.rank is None:
        return None
    rank = data.rank + len(axes)
    return any(not _in_range(int(axis), rank) for axis in axes)


@rule(
    "Reshape",
    feature="rank:Reshape.volume",
    versions="trt7.0..",
    severity=REJECT,
    text="[graphShapeAnalyzer.cpp::analyzeShapes] Error Code 4: Miscellaneous (IShuffleLayer: "
    "reshaping failed for tensor: reshape would change volume)",
    source="NvInfer.h 8.6.1: IShuffleLayer",
)
def reshape_volume(node: NodeView, target: Target) -> Answer:
    """TensorRT: Reshape to a shape with another number of elements."""
    data, shape, result = node.need(0), node.input(1), node.output(0)
    if data.static_shape is None or shape is None:
        return None
    array = shape.array() if is_weights(shape) else None
    if array is None:
        known = prod(d for d in (result.shape or ()) if isinstance(d, int)) if result else 1
        return known > 0 and prod(data.static_shape) % known != 0
    keep = not node.attr("allowzero", 0)
    sizes = [int(size) for size in array.flatten()]
    if keep:
        if any(size == 0 and i >= len(data.static_shape) for i, size in enumerate(sizes)):
            return True
        sizes = [data.static_shape[i] if size == 0 else size for i, size in enumerate(sizes)]
    volume, wanted = prod(data.static_shape), prod(size for size in sizes if size != -1)
    if -1 in sizes:
        return wanted != 0 and volume % wanted != 0
    return volume != wanted


@rule(
    "Shape",
    feature="form:Shape.start-end",
    versions="trt5.1..trt9.3",
    severity=WRONG,
    source="builtin_op_importers.cpp:1609 (5.1), 1652 (6.0), 4444 (8.6.1) and NVIDIA/TensorRT"
    " issue 3465: start and end are never "
    "read",
)
def shape_part(node: NodeView, target: Target) -> Answer:
    """TensorRT ignores start and end of Shape and returns the whole shape."""
    attrs = node.node.attrs
    if "start" not in attrs and "end" not in attrs:
        return None
    data = node.need(0)
    start, end = int(node.attr("start", 0)), node.attr("end")
    if data.rank is None:
        return start != 0 or (end is not None and Unknown(f"rank of {data.name}"))
    taken = range(data.rank)[start : None if end is None else int(end)]
    return len(taken) != data.rank


@rule(
    feature="rank:too-high",
    versions="trt",
    severity=REJECT,
    text="Error Code 4: Internal Error ({op}: transpose permutation is not valid for this rank)",
    source="NvInfer.h 8.6.1: Dims::MAX_DIMS is 8; ShapeTensor.cpp:371",
)
def output_rank(node: NodeView, target: Target) -> Answer:
    """TensorRT supports tensors of at most eight dimensions; {op} returns more."""
    for tensor in node.node.outputs:
        shape = tensor.shape
        if shape is not None and len(shape) > MAX_DIMS and node.op != "Constant":
            return Yes(feature=f"rank:{node.op}.{len(shape)}")
    return None


@rule(
    "ConstantOfShape",
    feature="dtype:ConstantOfShape.uint8",
    versions="trt8..",
    severity=REJECT,
    text="Found invalid input type of UINT8",
    source="builtin_op_importers.cpp:626 (8.6.1)",
)
def constant_of_shape_type(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support this element type of ConstantOfShape."""
    output = node.output(0)
    if output is None:
        return None
    name = output.type_name
    bad = {"int16", "uint16", "uint32", "uint64", "string"}
    if target.level < (9, 0):
        bad.add("bfloat16")
    return name in bad and Yes(
        feature=f"dtype:ConstantOfShape.{name}", text="Unable to convert ONNX weights"
    )


@rule(
    "Tile",
    feature="shape:Tile.repeats",
    versions="trt7.0..",
    severity=REJECT,
    text="[graphShapeAnalyzer.cpp::analyzeShapes] Error Code 4: Miscellaneous (IElementWiseLayer: "
    "broadcast dimensions must be conformable)",
    source="builtin_op_importers.cpp:4840 (8.6.1): mul(shape, repeats)",
)
def tile_repeats(node: NodeView, target: Target) -> Answer:
    """TensorRT requires one repeat per axis of the input of Tile."""
    data, repeats = node.need(0), node.input(1)
    count = None if repeats is None else repeats.dim(0)
    return count is not None and data.rank is not None and count != data.rank


@rule(
    "EyeLike",
    feature="shape:EyeLike.dynamic",
    versions="trt7.2..",
    severity=REJECT,
    text='"Eyelike does not work for dynamically shaped tensors."',
    source="builtin_op_importers.cpp:1483-1495 (8.6.1)",
)
def eye_like_shape(node: NodeView, target: Target) -> Answer:
    """TensorRT requires a static 2D shape of EyeLike."""
    data = node.need(0)
    if data.rank is not None and data.rank != 2:
        return Yes(feature=f"rank:EyeLike.{data.rank}")
    return data.static_shape is None


def _in_range(axis: int, rank: int) -> bool:
    return -rank <= axis <= rank


@rule(
    ("Concat", "Gather", "GatherElements", "Flatten", "ArgMax", "ArgMin", "TopK", "Split"),
    feature="attr:axis",
    versions="trt6-fulldims..",
    severity=REJECT,
    text=_AXIS,
    source="onnx2trt_utils.cpp:323 (8.6.1): convertAxis",
)
def axis_range(node: NodeView, target: Target) -> Answer:
    """TensorRT: the axis of {op} is out of range."""
    axis = node.attr("axis", 0)
    data = node.input(0)
    rank = None if data is None else data.rank
    if rank is None:
        return None
    return not _in_range(int(axis), rank) and Yes(feature=f"attr:{node.op}.axis")


@rule(
    "LayerNormalization",
    feature="attr:LayerNormalization.axis",
    versions="trt8.6..",
    severity=REJECT,
    text=_AXIS,
    source="builtin_op_importers.cpp:2224 (8.6.1)",
)
def layer_norm_axis(node: NodeView, target: Target) -> Answer:
    """TensorRT: the axis of LayerNormalization is out of range."""
    rank = node.need(0).rank
    return rank is not None and not _in_range(int(node.attr("axis", -1)), rank)
