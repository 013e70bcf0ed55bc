"""Bytes that stand for numbers: QuantizeLinear, and layers of int8."""

from __future__ import annotations

from graphfix.authoring.views import NodeView
from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, rule


@rule(
    "QuantizeLinear",
    feature="op:QuantizeLinear",
    versions="opencv",
    severity=WRONG,
    source="measured on 4.10.0 and 5.0.0: ties are rounded with the zero point added, what is"
    " beyond int32 wraps around, uint8 is another number on 4.10.0",
)
def quantize(node: NodeView, target: Target) -> Answer:
    """QuantizeLinear rounds and saturates otherwise."""
    return True


@rule(
    ("DequantizeLinear", "QLinearConv", "QLinearMatMul"),
    feature="op:{op}",
    versions="opencv",
    severity=WRONG,
    source="measured: of 6 quantized networks 4.10.0 refuses 3 and computes 2 otherwise, of 8 5.0.0"
    " refuses 1 and computes 2 otherwise",
)
def layers_of_bytes(node: NodeView, target: Target) -> Answer:
    """Networks with {op} become layers of int8, which compute something else."""
    return True
