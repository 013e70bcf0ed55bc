"""TFLite: numbers that become bytes."""

from __future__ import annotations

import numpy as np

from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, rule
from graphfix.engines.tflite.rules import MEASURED
from graphfix.ir.schemas import form_of
from graphfix.ir.views import NodeView, Value

# What onnx2tf has look whether bytes are still bytes.
_ASKING = frozenset({"DequantizeLinear", "QLinearConv", "QLinearMatMul"})
_TURNED = 3  # numbers of which the second can be put last


@rule(
    "QuantizeLinear",
    feature="op:QuantizeLinear",
    severity=WRONG,
    source=f"{MEASURED}: facts/asked.json, quantize-numbers and quantize-there-and-back; of opsets"
    " 13 and 25 the profile says it",
)
def numbers_not_rounded(node: NodeView, target: Target) -> Answer:
    """onnx2tf's QuantizeLinear neither rounds nor saturates."""
    form = form_of(node.op, node.opset)
    return form is None or form.since not in target.ops[node.op].wrong


@rule(
    "DequantizeLinear",
    feature="op:DequantizeLinear",
    severity=WRONG,
    source="what was measured of the QuantizeLinear before it: the two are written out together",
)
def dequantize_what_was_not_rounded(node: NodeView, target: Target) -> Answer:
    """DequantizeLinear reads values that onnx2tf's QuantizeLinear has not rounded."""
    data = node.input(0)
    before = None if data is None else data.producer
    return before is not None and before.op == "QuantizeLinear" and not before.domain


@rule(
    "DequantizeLinear",
    feature="op:DequantizeLinear",
    severity=WRONG,
    source=f"{MEASURED}: facts/asked.json, dequantize-stored, matrix-of-bytes and weights-of-bytes;"
    " of what is fed or computed it is right",
)
def stored_vector_turned(node: NodeView, target: Target) -> Answer:
    """onnx2tf reorders the elements of a constant vector in DequantizeLinear."""
    data = node.input(0)
    if data is None or not data.is_constant:
        return False
    return any(is_turned(value) for value in node.inputs if value is not None)


def is_turned(value: Value) -> bool:
    """Say whether a stored vector is another one with its second number at the end."""
    known = value.array() if value.is_constant and value.rank == 1 else None
    if known is None or known.size < _TURNED:
        return False
    return not np.array_equal(known[1:], np.roll(known[1:], -1))


@rule(
    ("QLinearConv", "QLinearMatMul"),
    feature="op:{op}",
    severity=WRONG,
    source=f"{MEASURED}: facts/asked.json, qlinear-*-read; ops/{{op}}.py gives the numbers that the"
    " bytes stand for, and few operators ask whether they are given these",
)
def bytes_that_are_numbers(node: NodeView, target: Target) -> Answer:
    """onnx2tf's {op} returns dequantized values; the node after it expects integers."""
    result = node.output(0)
    if result is None:
        return None
    return result.is_graph_output or any(
        reader.domain or reader.op not in _ASKING for reader in result.consumers
    )
