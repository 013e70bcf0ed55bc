"""Quantization to float8 that optimizations treat as one to 8-bit integers."""

from __future__ import annotations

from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView

_TYPES = ("float8e4m3fn", "float8e5m2")
# What is run as it is where it reads such a tensor, with what follows quantized again and not; a
# transpose after others goes up through them to it.
_LEFT_ALONE = frozenset(
    {"Conv", "Gemm", "InstanceNormalization", "LayerNormalization", "QuantizeLinear"}
)

# Before a QuantizeLinear these are moved past it, QDQPropagationTransformer: what they move then
# is float8.
_MOVING = frozenset(
    {
        *("Expand", "Flatten", "Gather", "MaxPool", "Reshape", "Slice", "Split", "Squeeze"),
        *("Transpose", "Unsqueeze"),
    }
)


@rule(
    "DequantizeLinear",
    feature="dtype:float8e4m3fn",
    versions="ort-1.15..ort-1.31",
    severity=REJECT,
    text="of input parameter",
    source="QDQSelectorActionTransformer, which joins it to QLinearAdd, MatMulIntegerToFloat or a "
    "Transpose of float8; measured on 1.16.3 to 1.31.1 with 45 operators; 1.32.0 is right",
)
def float8_of_activations(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime before 1.32 joins DequantizeLinear of float8 as if it were of int8."""
    data, result = node.need(0), node.output(0)
    kind = data.type_name
    if kind not in _TYPES or result is None or data.array() is not None:
        return None
    quantizer = data.producer
    moved = None if quantizer is None else quantizer.need(0).producer
    joined = any(reader.op not in _LEFT_ALONE for reader in result.consumers)
    joined = joined or (moved is not None and moved.op in _MOVING)
    return joined and Yes(feature=f"dtype:{kind}", text=f"Type 'tensor({kind})' of input parameter")


@rule(
    "QuantizeLinear",
    feature="dtype:float8e4m3fn",
    versions="ort-1.15..",
    severity=WRONG,
    source="ReluQuantRewrite: the zero point 0 is the least number of uint8, and not of float8; "
    "measured on 1.16.3, 1.22.1, 1.31.1 and 1.32.0",
)
def float8_after_relu(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime leaves out a Relu that only a QuantizeLinear to float8 reads."""
    data, zero = node.need(0), node.input(2)
    if zero is None or zero.type_name not in _TYPES or zero.array() is None:
        return None
    maker = data.producer
    alone = not data.is_graph_output and len(data.consumers) == 1
    left_out = maker is not None and maker.op == "Relu" and alone
    return left_out and Yes(feature=f"dtype:{zero.type_name}")


@rule(
    "QuantizeLinear",
    feature="dtype:float8e4m3fn",
    versions="ort-1.15..ort-1.22",
    severity=REJECT,
    text="Unexpected data type for QuantizeLinear input y_zero_point of 17",
    source="clip_quantfusion.cc, GetQConstantLowerUpper; measured on 1.16.3 and 1.22.1; 1.31.1 and "
    "1.32.0 take it with both limits",
)
def float8_after_clip(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime has no limits of float8 for a Clip before QuantizeLinear."""
    maker, zero = node.need(0).producer, node.input(2)
    if maker is None or maker.op != "Clip" or zero is None or zero.type_name not in _TYPES:
        return None
    return zero.array() is not None and Yes(feature=f"dtype:{zero.type_name}")
