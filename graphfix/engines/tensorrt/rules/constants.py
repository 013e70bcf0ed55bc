"""Constants, Cast, quantized types, and numbers beyond the type that the engine gives them.

It turns int64 and float64 into 32 bits. Bounds of Slice, which the oldest versions read themselves,
are judged elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from onnx import TensorProto

from graphfix.analysis.folding.upper_bounds import upper_bound
from graphfix.authoring.declaring import Unknown
from graphfix.engines.common_rules import is_function
from graphfix.engines.profile import Target
from graphfix.engines.rule import BUILDER, NOTE, REJECT, WRONG, Answer, Yes, model_rule, rule
from graphfix.engines.tensorrt.rules.interfaces import weight_types
from graphfix.engines.tensorrt.rules.parsed import engine_type, is_weights
from graphfix.ir.graph import Constant, Weights
from graphfix.ir.model import Model
from graphfix.ir.schemas import AttributeRef
from graphfix.ir.storage.weights import type_name
from graphfix.ir.views import Array, NodeView, Value
from graphfix.operators.table import COMPARISONS

_CAST = (
    'Assertion failed: convertDtype(onnxType, &newType) && "Unsupported data type for the Cast '
    'operator!"'
)
# Cast targets: convertDtype, onnx2trt_utils.cpp:346 (8.6.1).
_CASTS = frozenset({"float64", "float32", "int8", "float16", "bool", "int32", "int64"})


@rule(
    "Constant",
    feature="form:Constant.value_int",
    versions="trt8",
    severity=WRONG,
    source="builtin_op_importers.cpp:595-616 (8.6.1): the integers are read as floats",
)
def constant_integers(node: NodeView, target: Target) -> Answer:
    """TensorRT reads Constant with value_int as 0, and with value_ints as an empty tensor."""
    attrs = node.node.attrs
    for name in ("value_int", "value_ints"):
        if name in attrs:
            return Yes(feature=f"form:Constant.{name}")
    return None


@rule(
    "Constant",
    feature="form:Constant.value_string",
    versions="trt7.1..",
    severity=REJECT,
    text='Assertion failed: (!attrs.count("sparse_value")) && (!attrs.count("value_string")) && '
    '(!attrs.count("value_strings")) && "This version of TensorRT does not support the '
    'sparse_value, value_string and value_strings attributes."',
    source="builtin_op_importers.cpp:573 (8.6.1)",
)
def constant_form(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support this value attribute of Constant."""
    attrs = node.node.attrs
    for name in ("sparse_value", "value_string", "value_strings"):
        if name in attrs:
            return Yes(feature=f"form:Constant.{name}")
    return None


@rule(
    "Constant",
    feature="dtype:Constant",
    versions="trt",
    severity=REJECT,
    text="Unable to convert ONNX weights",
    source="OnnxAttrs.cpp:90, onnx2trt_utils.cpp:748 (8.6.1)",
)
def constant_type(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support a Constant of this element type."""
    attrs = node.node.attrs
    value = attrs.get("value")
    if not isinstance(value, TensorProto):
        return None
    name = type_name(value.data_type)
    return None if name in weight_types(target) else Yes(feature=f"dtype:{name}")


@rule(
    "Cast",
    feature="dtype:Cast",
    versions="trt7.0..",
    severity=REJECT,
    text=_CAST,
    source="builtin_op_importers.cpp:288, onnx2trt_utils.cpp:346 (8.6.1)",
)
def cast_target(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support Cast to this element type."""
    attrs = node.node.attrs
    wanted = attrs.get("to")
    if isinstance(wanted, AttributeRef):
        return Unknown("attribute to")
    if not isinstance(wanted, int):
        return None
    name = type_name(wanted)
    taken = _CASTS
    if target.level >= (8, 5):
        taken |= {"uint8"}
    if target.level < (8, 0):
        taken -= {"float64"}
    if target.level >= (9, 0):
        taken |= {"bfloat16", "float8e4m3fn"}
    if name == "int4" and target.level >= (10, 0):
        # convertDtype has it (importerUtils.cpp:328 of 10.1); the layer does not.
        return Yes(feature="dtype:Cast.int4", severity=BUILDER)
    return None if name in taken else Yes(feature=f"dtype:Cast.{name}")


@rule(
    feature="dtype:uint8",
    versions="trt8.5..",
    severity=REJECT,
    text='Assertion failed: legalUINT8 && "TensorRT does not support UINT8 types for intermediate '
    'tensors!"',
    source="ModelImporter.cpp:243 (8.6.1)",
)
def uint8_between_nodes(node: NodeView, target: Target) -> Answer:
    """TensorRT supports uint8 for graph inputs and outputs only; {op} returns it inside."""
    for position, tensor in enumerate(node.node.outputs):
        if tensor.elem_type != TensorProto.UINT8 or not tensor.name:
            continue
        value = node.output(position)
        if value is None or engine_type(value, target) != "uint8":
            continue
        if not value.is_graph_output:
            return True
    return None


_TYPES = frozenset({"int8", "int4", "float8e4m3fn", "float4e2m1"})
_NARROW = _TYPES - {"int8"}
_QUANTIZING = frozenset({"QuantizeLinear", "DequantizeLinear"})
_TEXT = (
    "[qdqGraphOptimizer.cpp::matchInt8ConstantDQ] Error Code 2: Internal Error (Int8 constant is "
    "only allowed before DQ node)"
)
_SOURCE = (
    "NVIDIA-AI-IOT/Lidar_AI_Solution issue 127, NVIDIA/TensorRT issue 2998 (8.x); NVIDIA/TensorRT "
    "issue 3919 (10.0.1); tensorrt-rtx 1.7.1, also where Transpose, Reshape or Gather is "
    "before DequantizeLinear"
)


@rule(
    feature="dtype:int8-constant", versions="trt8.0..", severity=BUILDER, text=_TEXT, source=_SOURCE
)
def quantized_constant(node: NodeView, target: Target) -> Answer:
    """TensorRT allows a quantized constant as input of DequantizeLinear only, not of {op}."""
    if node.op in _QUANTIZING and not node.domain:
        return None
    for value in node.inputs:
        if value is not None and value.type_name in _TYPES and is_weights(value):
            known = target.ops.get(node.op)
            if known is None or not known.supported or is_function(node):
                return None  # a plugin may read it, and a function is read as its nodes are
            return Yes(feature=f"dtype:{node.op}.{value.type_name}-constant")
    return None


@model_rule(
    feature="io:int8-constant", versions="trt8.0..", severity=BUILDER, text=_TEXT, source=_SOURCE
)
def quantized_constant_output(model: Model, target: Target) -> list[Answer]:
    """TensorRT does not support a constant of a quantized type as graph output."""
    return [
        f"graph output {tensor.name} is a constant of {value.type_name}"
        for tensor in model.graph.outputs
        if (value := Value(tensor)).type_name in _TYPES and is_weights(value)
    ]


@rule(
    ("Cast", "CastLike"),
    feature="dtype:Cast.narrow",
    versions="trt10.15..",
    severity=BUILDER,
    text="API Usage Error (Tensor {op} has datatype FP8 but is not produced by IPluginLayer, "
    "IQuantizeLayer, IConstantLayer, IConcatenationLayer, IShuffleLayer, or IdentityLayer.)",
    source="tensorrt-rtx 1.4.0 to 1.7.1, which is like 10.15 and 11.1",
)
def cast_of_narrow_type(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support {op} of 8-bit floats or 4-bit types; only quantization does."""
    for value in (node.output(0), node.input(0)):
        if value is not None and value.type_name in _NARROW:
            return Yes(feature=f"dtype:{node.op}.{value.type_name}")
    return None


_LARGEST = 2**31 - 1
_SMALLEST = -(2**31)
_LARGEST_FLOAT = float(np.finfo(np.float32).max)

# Operator -> inputs at which the nearest int32 means the same: sizes and rounds never get there.
_BOUNDS = {"Slice": frozenset({1, 2, 3, 4}), "Loop": frozenset({0})}


@rule(
    feature="dtype:int64-beyond-int32",
    versions="trt6-fulldims..trt8",
    severity=WRONG,
    text="One or more weights outside the range of INT32 was clamped",
    source="onnx2trt_utils.cpp:367-405 (8.6.1), 228-262 (7.0); ShapedWeights.cpp:31-47 "
    "(6.0-full-dims)",
)
def weights_clamped(node: NodeView, target: Target) -> Answer:
    """TensorRT clamps int64 weights of {op} to the range of int32."""
    return next(_misread(node), None)


@rule(
    feature="dtype:int64-beyond-int32",
    versions="trt5.1..trt6",
    severity=REJECT,
    text="ERROR: Weights cannot be cast down to INT32.",
    source="ShapedWeights.cpp:29-46, 88-93 (5.1, 6.0): the weights are left empty then",
)
def weights_not_cast(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support int64 weights of {op} beyond int32."""
    for index, value, beyond in _weights_beyond(node):
        # Slice looks into its weights itself: see slice_bounds_beyond_int32.
        if not _is_bound(node, index):
            return _finding(node, value, beyond)
    return None


@rule(
    feature="dtype:float64-beyond-float32",
    versions="trt8.0..",
    severity=WRONG,
    text="One or more weights outside the range of FLOAT was clamped",
    source="onnx2trt_utils.cpp:500-540 (8.6.1), WeightsContext.cpp:38-60 (10.1): infinity "
    "is clamped, too",
)
def doubles_clamped(node: NodeView, target: Target) -> Answer:
    """TensorRT clamps float64 weights of {op} to the range of float32."""
    for value in node.inputs:
        if value is None or value.type_name != "float64" or not is_weights(value):
            continue
        values = value.array()
        beyond = None if values is None else values[np.abs(values) > _LARGEST_FLOAT]
        if beyond is not None and beyond.size:
            number = float(beyond[0])
            return Yes(
                message=f"TensorRT clamps {value.name} of {node.op} to float32: it holds {number}"
            )
    return None


@model_rule(
    feature="io:int64-as-int32",
    versions="..trt8",
    severity=NOTE,
    source="onnx2trt_utils.cpp:346-365 (8.6.1): convertDtype",
)
def int64_bindings(model: Model, target: Target) -> Answer:
    """TensorRT binds int64 inputs and outputs as int32; values must fit."""
    graph = model.graph
    names = [t.name for t in (*graph.inputs, *graph.outputs) if type_name(t.elem_type) == "int64"]
    if not names:
        return None
    listed = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    return f"{target.title} binds int64 {listed} as int32; values must fit"


def _misread(node: NodeView) -> Iterator[Yes]:
    """Yield weights that are clamped to a different value, but for bounds that no value reaches."""
    filled = node.attr("value") if node.op == "ConstantOfShape" and not node.domain else None
    if filled is not None and filled.dtype == np.int64 and _beyond(filled).size:
        yield Yes(message="TensorRT clamps the value of ConstantOfShape to int32")
    for index, value, beyond in _weights_beyond(node):
        if not _is_harmless(node, index, beyond):
            yield _finding(node, value, beyond)


def _weights_beyond(node: NodeView) -> Iterator[tuple[int, Value, Array]]:
    """Yield the position of each input with int64 weights beyond int32, and these values."""
    for index, value in enumerate(node.inputs):
        if value is None or value.type_name != "int64" or not is_weights(value):
            continue
        if isinstance(value.tensor, Constant) and _is_within(value.tensor.weights):
            continue
        values = value.array()
        beyond = None if values is None else _beyond(values)
        if beyond is not None and beyond.size:
            yield index, value, beyond


def _is_within(weights: Weights) -> bool:
    least, largest = weights.span()
    return bool(least >= _SMALLEST and largest <= _LARGEST)


def _beyond(values: Array) -> Array:
    """Return those of int64 numbers that int32 does not hold.

    A file may declare int64 and store four bits, with which these bounds cannot be compared.
    """
    if values.dtype != np.int64:
        return values[:0]
    return values[(values > _LARGEST) | (values < _SMALLEST)]


def _is_bound(node: NodeView, index: int) -> bool:
    return not node.domain and index in _BOUNDS.get(node.op, ())


def _is_harmless(node: NodeView, index: int, beyond: Array) -> bool:
    if node.domain:
        return False
    if _is_bound(node, index):
        return True
    above, below = bool((beyond > 0).any()), bool((beyond < 0).any())
    if node.op == "Min" or (node.op == "Clip" and index == 2):
        return not below  # an upper bound that no int32 is above
    if node.op == "Max" or (node.op == "Clip" and index == 1):
        return not above
    if node.op in COMPARISONS and not below:
        other = upper_bound(node.input(1 - index))
        return other is not None and other < _LARGEST
    return False


def _finding(node: NodeView, value: Value, beyond: Array) -> Yes:
    return Yes(message=f"TensorRT has int32 only; {value.name} of {node.op} holds {int(beyond[0])}")
