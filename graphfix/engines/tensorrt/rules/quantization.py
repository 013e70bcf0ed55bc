"""QuantizeLinear and DequantizeLinear."""

from __future__ import annotations

from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.tensorrt.rules.parsed import engine_type, is_weights
from graphfix.ir.storage.weights import type_name
from graphfix.ir.views import NodeView, Value

_OPS = ("QuantizeLinear", "DequantizeLinear")
_ZEROS = (
    'Assertion failed: shiftIsAllZeros(zeroPoint) && "TensorRT only supports symmetric '
    "quantization. The zero point for the QuantizeLinear/DequantizeLinear operator must be all "
    'zeros."'
)


@rule(
    _OPS,
    feature="attr:QuantizeLinear.zero_point",
    versions="trt8..",
    severity=REJECT,
    text=_ZEROS,
    source="builtin_op_importers.cpp:1220 (8.6.1)",
)
def zero_point(node: NodeView, target: Target) -> Answer:
    """TensorRT requires zero points of {op} to be 0."""
    zero = node.input(2)
    if zero is None or not is_weights(zero):
        return None
    array = zero.array()
    if array is None:
        return None
    return bool(array.astype("float64").any()) and Yes(feature=f"attr:{node.op}.zero_point")


@rule(
    _OPS,
    feature="dtype:QuantizeLinear.uint8",
    versions="trt8..",
    severity=WRONG,
    source="builtin_op_importers.cpp:1155-1220, onnx2trt_utils.cpp:670 (8.6.1); "
    "onnxOpImporters.cpp:1430-1462 (10.1)",
)
def uint8_as_int8(node: NodeView, target: Target) -> Answer:
    """TensorRT reads uint8 quantization with zero point 0 as int8: 128 to 255 saturate."""
    zero = node.input(2)
    if zero is None and node.op == "QuantizeLinear" and target.level >= (9, 0):
        # The default of the standard is uint8; before 9.0 a missing zero point is refused.
        return not node.attr("output_dtype", 0)
    if zero is None or zero.type_name != "uint8" or not is_weights(zero):
        return None
    array = zero.array()
    if array is None or array.any():
        return None
    return Yes(feature=f"dtype:{node.op}.uint8")


@rule(
    _OPS,
    feature="attr:QuantizeLinear.scale",
    versions="trt8..",
    severity=REJECT,
    text='Assertion failed: scaleAllPositive && "Scale coefficients must all be positive"',
    source="builtin_op_importers.cpp:1194 (8.6.1)",
)
def scale_positive(node: NodeView, target: Target) -> Answer:
    """TensorRT requires positive scales of {op}."""
    scale = node.input(1)
    if scale is None or not is_weights(scale):
        return None
    array = scale.array()
    return array is not None and not bool((array > 0).all())


@rule(
    _OPS,
    feature="shape:QuantizeLinear.scale",
    versions="trt8..",
    severity=REJECT,
    text='Assertion failed: zeroPointSize == scaleSize && "The scale and zero point must have the '
    'same volume."',
    source="builtin_op_importers.cpp:1231-1253 (8.6.1)",
)
def scale_sizes(node: NodeView, target: Target) -> Answer:
    """TensorRT requires scale and zero point of {op} of equal size: 1 or that of the axis."""
    scale, zero, data = node.input(1), node.input(2), node.need(0)
    if scale is None or scale.static_shape is None:
        return None
    size = 1
    for dim in scale.static_shape:
        size *= dim
    if zero is not None and zero.static_shape is not None:
        other = 1
        for dim in zero.static_shape:
            other *= dim
        if other != size:
            return True
    if size == 1 or data.rank is None:
        return None
    if target.level >= (10, 0) and scale.rank != 1:
        return _blocks(scale, data)
    axis = int(node.attr("axis", data.rank))
    channels = data.dim(0 if axis == data.rank else axis)
    return (
        channels is not None
        and channels != size
        and Yes(text='"The number of scales is not equal to the number of output channels."')
    )


def _blocks(scale: Value, data: Value) -> Answer:
    """Judge a scale of several dimensions: one per block (onnxOpImporters.cpp:1530-1575, 10.1)."""
    if scale.rank != data.rank:
        return Yes(text="Assertion failed: false: Invalid rank for the scale tensor.")
    if data.static_shape is None or scale.static_shape is None:
        return None
    pairs = list(zip(data.static_shape, scale.static_shape, strict=True))
    if any(part == 0 for _, part in pairs):
        return None
    if sum(size // part == 1 for size, part in pairs) != len(pairs) - 1:
        return Yes(text='"Only a single blocking dimension is allowed."')
    return any(size % part for size, part in pairs) and Yes(
        text='"Inferred block size is not an integer."'
    )


@rule(
    _OPS,
    feature="attr:{op}.block_size",
    versions="trt10.0..",
    severity=WRONG,
    source="onnxOpImporters.cpp, QuantDequantLinearHelper (onnx-tensorrt 0137504e): block_size is "
    "not read, the sizes of the data are divided by those of the scales",
)
def blocks_of_another_size(node: NodeView, target: Target) -> Answer:
    """TensorRT makes blocks of {op} equally large where the last one is not full."""
    scale, block = node.input(1), int(node.attr("block_size", 0))
    if not block or scale is None:
        return None
    axis = int(node.attr("axis", 1))
    size, count = node.need(0).dim(axis), scale.dim(axis)
    if size is None or not count or count == 1:
        return None
    return size % count == 0 and size // count != block


_WANTED = frozenset({"int8", "int4", "float8e4m3fn"})


@rule(
    _OPS,
    feature="attr:QuantizeLinear.output_dtype",
    versions="trt10.0..",
    severity=REJECT,
    text="Attribute output_dtype specifies an invalid data type",
    source="onnxOpImporters.cpp:1420-1445, 1510-1520 (10.1)",
)
def quantized_output_type(node: NodeView, target: Target) -> Answer:
    """TensorRT requires output_dtype of {op} to be the zero point's type, and not uint8."""
    wanted = int(node.attr("output_dtype", 0))
    if not wanted:
        return None
    name, zero = type_name(wanted), node.input(2)
    feature = f"attr:{node.op}.output_dtype={name}"
    if zero is None:
        return name not in _WANTED and Yes(feature=feature)
    found = engine_type(zero, target)
    return (
        bool(found)
        and found != name
        and Yes(
            feature=feature,
            text="Mismatch between attribute output_dtype and zero-point data type.",
        )
    )


@rule(
    _OPS,
    feature="shape:QuantizeLinear.int4",
    versions="trt10.0..",
    severity=REJECT,
    text="Assertion failed: (chosenDataType != DataType::kINT4 || inputDims.d[inputDims.nbDims - 1]"
    " % 2 == 0): Quantization to INT4 is not supported for tensors with an odd-sized innermost "
    "dimension.",
    source="onnxOpImporters.cpp: QuantDequantLinearHelper (10.1)",
)
def int4_of_odd_size(node: NodeView, target: Target) -> Answer:
    """TensorRT requires an even size of the last axis of int4 {op}."""
    data, zero = node.need(0), node.input(2)
    # Without a zero point the type is not asked for.
    narrow = data if node.op == "DequantizeLinear" and zero is not None else zero
    size = data.dim(-1)
    return (
        narrow is not None
        and narrow.type_name == "int4"
        and size is not None
        and size % 2 == 1
        and Yes(feature=f"shape:{node.op}.int4")
    )
