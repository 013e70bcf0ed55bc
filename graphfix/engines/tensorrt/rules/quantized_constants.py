"""Constants of quantized types: the builder takes them where DequantizeLinear alone reads them."""

from __future__ import annotations

from graphfix.authoring.views import NodeView, Value
from graphfix.engines.common_rules import is_function
from graphfix.engines.profile import Target
from graphfix.engines.rule import BUILDER, Answer, Yes, model_rule, rule
from graphfix.engines.tensorrt.rules.parsed import is_weights
from graphfix.model import Model

_TYPES = frozenset({"int8", "int4", "float8e4m3fn", "float4e2m1"})
_QUANTIZING = frozenset({"QuantizeLinear", "DequantizeLinear"})
_TEXT = (
    "[qdqGraphOptimizer.cpp::matchInt8ConstantDQ] Error Code 2: Internal Error (Int8 constant is "
    "only allowed before DQ node)"
)
_SOURCE = (
    "NVIDIA-AI-IOT/Lidar_AI_Solution issue 127, NVIDIA/TensorRT issue 2998 (8.x); NVIDIA/TensorRT "
    "issue 3919 (10.0.1); tensorrt-rtx 1.7.1, also where Transpose, Reshape or Gather stands "
    "before DequantizeLinear"
)


@rule(
    feature="dtype:int8-constant", versions="trt8.0..", severity=BUILDER, text=_TEXT, source=_SOURCE
)
def quantized_constant(node: NodeView, target: Target) -> Answer:
    """A constant of a quantized type is read by {op}; DequantizeLinear alone may read one."""
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
    """A graph output is a constant of a quantized type."""
    return [
        f"graph output {tensor.name} is a constant of {value.type_name}"
        for tensor in model.graph.outputs
        if (value := Value(tensor)).type_name in _TYPES and is_weights(value)
    ]
