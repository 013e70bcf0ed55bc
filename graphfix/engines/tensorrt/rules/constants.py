"""Constant, Cast, uint8 between nodes, and quantized types next to quantization."""

from __future__ import annotations

from onnx import TensorProto

from graphfix.authoring.declaring import Unknown
from graphfix.engines.common_rules import is_function
from graphfix.engines.profile import Target
from graphfix.engines.rule import BUILDER, REJECT, WRONG, Answer, Yes, model_rule, rule
from graphfix.engines.tensorrt.rules.interfaces import weight_types
from graphfix.engines.tensorrt.rules.parsed import engine_type, is_weights
from graphfix.ir.attributes import AttributeRef
from graphfix.ir.model import Model
from graphfix.ir.storage.weights import type_name
from graphfix.ir.views import NodeView, Value

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
