"""Quantized types next to quantization: constants of them, casts, and zero points."""

from __future__ import annotations

from graphfix.engines.common_rules import is_function
from graphfix.engines.profile import Target
from graphfix.engines.rule import BUILDER, Answer, Yes, model_rule, rule
from graphfix.engines.tensorrt.rules.parsed import is_weights
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView, Value

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


@rule(
    tuple(sorted(_QUANTIZING)),
    feature="const:QuantizeLinear.y_zero_point",
    versions="trt10.15..",
    severity=BUILDER,
    text="API Usage Error (IQuantizeLayer/IDequantizeLayer {op} has `zero_point` which is not an "
    "initializer.)",
    source="tensorrt-rtx 1.4.0 to 1.7.1, which is like 10.15 and 11.1",
)
def computed_zero_point(node: NodeView, target: Target) -> Answer:
    """TensorRT requires a constant zero point of {op}."""
    zero = node.input(2)
    if zero is None or is_weights(zero):
        return None
    name = "y_zero_point" if node.op == "QuantizeLinear" else "x_zero_point"
    return Yes(feature=f"const:{node.op}.{name}")
