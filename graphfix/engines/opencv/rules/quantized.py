"""Bytes that stand for numbers: QuantizeLinear, and layers of int8."""

from __future__ import annotations

from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, rule
from graphfix.ir.views import NodeView


@rule(
    "QuantizeLinear",
    feature="op:QuantizeLinear",
    versions="..opencv4.10",
    severity=WRONG,
    source="measured on 4.10.0: ties are rounded with the zero point added, what is beyond int32"
    " wraps around, uint8 is another value",
)
def quantize(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 rounds and saturates QuantizeLinear differently from ONNX."""
    return True


@rule(
    ("DequantizeLinear", "QLinearConv", "QLinearMatMul"),
    feature="op:{op}",
    versions="..opencv4.10",
    severity=WRONG,
    source="measured: of 6 quantized networks 4.10.0 refuses 3 and computes 2 otherwise",
)
def layers_of_bytes(node: NodeView, target: Target) -> Answer:
    """OpenCV computes quantized networks with {op} in int8 layers with different results."""
    return True


@rule(
    ("com.microsoft::QLinearConcat", "com.microsoft::QLinearLeakyRelu"),
    feature="op:com.microsoft::{op}",
    versions="opencv5.0..",
    severity=WRONG,
    source="measured on 5.0.0 (benchmarks.engines.plain): the last bit of some numbers",
)
def rounded_bytes(node: NodeView, target: Target) -> Answer:
    """OpenCV rounds {op} differently from onnxruntime."""
    return True


@rule(
    (
        "com.microsoft::QLinearAdd",
        "com.microsoft::QLinearAveragePool",
        "com.microsoft::QLinearMul",
        "com.microsoft::QLinearSoftmax",
    ),
    feature="op:com.microsoft::{op}",
    versions="..opencv4.10",
    severity=WRONG,
    source="measured on 4.8.1 and 4.10.0 (benchmarks.engines.plain): with zero points, or without",
)
def arithmetic_of_bytes(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 computes {op} differently from onnxruntime."""
    return True
