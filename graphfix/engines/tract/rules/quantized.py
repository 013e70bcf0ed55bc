"""Bytes in tract: what it makes one table of, and quotients that are quantized.

A DequantizeLinear, what follows it element by element, and a QuantizeLinear become a table with a
result for each of the 256 bytes (core/src/ops/quant.rs, `DequantizeLinearF32::declutter`). Softmax
counts as such an operator there, and the table is made for bytes of the type that comes out.
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring.declaring import Unknown
from graphfix.engines.operands import is_stored, quantizer_reported_at
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, rule
from graphfix.ir.views import NodeView, Value

_ASKED = "measured on tract 0.23.9, graphfix/engines/tract/facts/asked.json"
_BYTES = frozenset({"int8", "uint8"})
_SOFTMAXES = frozenset({"LogSoftmax", "Softmax"})
_STEPS = frozenset(
    {
        *_SOFTMAXES,
        "Abs",
        "Cast",
        "Dropout",
        "Erf",
        "Exp",
        "Floor",
        "Identity",
        "LeakyRelu",
        "Log",
        "Neg",
        "Round",
        "Sigmoid",
        "Sign",
        "Sin",
        "Sqrt",
        "Tanh",
    }
)
_MOVES = frozenset({"Flatten", "Reshape", "Squeeze", "Transpose", "Unsqueeze"})


@rule(
    "DequantizeLinear",
    feature="op:DequantizeLinear",
    severity=WRONG,
    source=f"{_ASKED}, bytes-through-softmax, bytes-before-softmax and bytes-behind-softmax",
)
def table_of_softmax(node: NodeView, target: Target) -> Answer:
    """tract fuses DequantizeLinear to Softmax into a table of bytes, which is wrong for Softmax."""
    path = _table(node)
    first = next((at for at, step in enumerate(path) if step.op in _SOFTMAXES), None)
    if first is None or _type_of(node) != _type_of(path[-1]):
        return None
    if not any(map(_moves, path[:first])):
        return True
    if sum(map(_moves, path)) == 1:
        return None
    return Unknown(f"whether {target.title} drops what moves axes there and back")


@rule(
    "DequantizeLinear",
    feature="op:DequantizeLinear",
    severity=REJECT,
    text="declutter node #{n} DequantizeLinearF32: Trying to substitute a {shape},U8 by {shape},I8",
    source=f"{_ASKED}, bytes-of-the-other-type",
)
def table_of_other_bytes(node: NodeView, target: Target) -> Answer:
    """tract fuses this DequantizeLinear with a QuantizeLinear of the other 8-bit type."""
    path = _table(node)
    return bool(path) and _type_of(node) != _type_of(path[-1])


@rule(
    ("DequantizeLinear", "QuantizeLinear"),
    feature="op:{op}",
    severity=WRONG,
    source=f"{_ASKED}, quantized-quotient: the zero point is added to an int32, which wraps around",
)
def quantized_quotient(node: NodeView, target: Target) -> Answer:
    """tract overflows int32 when it quantizes a quotient whose divisor can be 0."""
    maker = quantizer_reported_at(node)
    if maker is None:
        return None
    zero = maker.input(2)
    known = None if zero is None else zero.array()
    if zero is None or (known is not None and not np.any(known)):
        return None
    quotient = _unmoved(maker.need(0)).producer
    if quotient is None or quotient.op != "Div":
        return None
    divisor = _unmoved(quotient.need(1)).producer
    if divisor is None or divisor.op != "DequantizeLinear" or is_stored(divisor.need(0)):
        return None
    return Unknown(f"whether {quotient.need(1).name} is ever 0")


def _table(node: NodeView) -> list[NodeView]:
    """Return what follows bytes up to a QuantizeLinear; none where tract makes no table of it."""
    data = node.need(0)
    if data.type_name not in _BYTES or is_stored(data) or not _has_one_scale(node):
        return []
    path: list[NodeView] = []
    step = node
    while True:
        result = step.output(0)
        users = () if result is None else result.consumers
        if len(users) != 1:
            return []
        step = users[0]
        path.append(step)
        if step.op == "QuantizeLinear":
            return path if _has_one_scale(step) and _type_of(step) in _BYTES else []
        if step.domain or step.op not in _STEPS | _MOVES or step.graph is not node.graph:
            return []


def _type_of(node: NodeView) -> str:
    """Return the name of the type of the bytes that go in or come out."""
    value = node.output(0) if node.op == "QuantizeLinear" else node.need(0)
    return "" if value is None else value.type_name


def _has_one_scale(node: NodeView) -> bool:
    """Say whether one scale is for all numbers."""
    scale = node.need(1).array()
    return scale is not None and scale.size == 1


def _moves(node: NodeView) -> bool:
    """Say whether a node gives its values other axes or another order."""
    data, result = node.input(0), node.output(0)
    if node.op not in _MOVES or data is None or result is None:
        return False
    return node.op == "Transpose" or data.static_shape is None or data.shape != result.shape


def _unmoved(value: Value) -> Value:
    """Return what a value is computed of before its axes are moved."""
    while (maker := value.producer) is not None and maker.op in _MOVES:
        value = maker.need(0)
    return value
