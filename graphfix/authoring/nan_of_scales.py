"""NaN that quantization makes, and what QuantizeLinear returns for it.

Scales are infinite, or next to it, where a quantizer has measured a mask of -inf or of the least
float32. Where the sum under the root of a normalization is quantized, its epsilon becomes a step or
nothing: 0 is divided by 0. ONNX leaves open what QuantizeLinear gives for NaN; onnxruntime gives
the least number, on every processor: microsoft/onnxruntime, onnxruntime/core/mlas/lib/quantize.cpp
(MlasQuantizeLinearVector), measured on 1.16.3 and 1.32.0.
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from graphfix.authoring.building import Builder
from graphfix.ir.views import Array, NodeView, Value
from graphfix.operators.row import Motion
from graphfix.operators.table import OPERATORS

# As far as NaN is followed: between two pairs of quantization there are a few nodes.
_STEPS = 24
_NEXT_TO = float(np.finfo(np.float32).max) / 2**17
_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16)
_MOTIONS = (Motion.SAME, Motion.ORDERED, Motion.RANGE, Motion.PICKED, Motion.COPIED)


def may_be_nan(x: Value) -> bool:
    """Say whether NaN of quantization gets here, on a way without another QuantizeLinear.

    What is dequantized is infinite where the scale is, and next to the greatest float32 where a
    step less of the mask is; times 0, or less itself, it is NaN. So is 0 divided by what is not
    known never to be 0.
    """
    seen: set[Value] = set()
    waiting = [x]
    while waiting and len(seen) < _STEPS:
        value = waiting.pop()
        maker = value.producer
        if value in seen or maker is None or value.elem_type not in _FLOATS:
            continue
        seen.add(value)
        if maker.op == "Clip":  # what a pair became, which has looked for NaN itself
            continue
        scales = {"DequantizeLinear": maker.inputs[1:2], "Mul": maker.inputs}.get(maker.op, ())
        if any(_may_be_infinite(scale) for scale in scales):
            return True
        if maker.op == "Div" and not maker.domain and not _never_zero(maker.need(1)):
            return True
        if maker.op not in ("DequantizeLinear", "QuantizeLinear"):
            waiting.extend(operand for operand in maker.inputs if operand is not None)
    return False


def _never_zero(value: Value, steps: int = _STEPS) -> bool:
    """Say whether a tensor is known to have no 0: a constant, or what an epsilon was added to."""
    known = value.array() if value.is_constant else None
    maker = value.producer
    if known is not None or maker is None or maker.domain or not steps:
        return known is not None and bool(np.all(known != 0))
    if maker.op == "Sqrt" or _moves(maker):
        return _never_zero(maker.need(0), steps - 1)
    if maker.op == "Add":
        one, two = maker.need(0), maker.need(1)
        return any(
            _is_positive(epsilon) and _never_negative(rest, steps - 1)
            for epsilon, rest in ((one, two), (two, one))
        )
    return maker.op == "Max" and any(map(_is_positive, maker.inputs))


def _is_positive(value: Value | None) -> bool:
    known = value.array() if value is not None and value.is_constant else None
    return known is not None and known.dtype.kind in "fiu" and bool(np.all(known > 0))


def _never_negative(value: Value, steps: int) -> bool:
    """Say whether a tensor is known to have no number below 0."""
    maker = value.producer
    if maker is None or maker.domain or not steps:
        return False
    if maker.op in ("ReduceMean", "ReduceSum") or _moves(maker):
        return _never_negative(maker.need(0), steps - 1)
    if maker.op == "Mul":
        return maker.need(0) == maker.need(1)
    if maker.op == "Pow":
        power = maker.need(1).array() if maker.need(1).is_constant else None
        return power is not None and bool(np.all(power % 2 == 0))
    row = OPERATORS.get(maker.op)
    return row is not None and row.low >= 0


def _moves(node: NodeView) -> bool:
    """Say whether what a node gives are elements of its first input, or these in another type."""
    row = OPERATORS.get(node.op)
    moved = row is not None and row.motion in _MOTIONS and row.data == (0,)
    return moved or (node.op == "Cast" and node.attr("to") == TensorProto.FLOAT)


def _may_be_infinite(scale: Value | None) -> bool:
    """Say whether a constant is infinite, or becomes so times an integer of 16 bits."""
    known = scale.array() if scale is not None and scale.is_constant else None
    if known is None or known.dtype.kind != "f":
        return False
    return bool(np.any(np.isinf(known) | (known > _NEXT_TO)))


def least_for_nan(build: Builder, steps: Value, low: Array) -> Value:
    """Return the least step for NaN, which is above nothing, and the rest as it is."""
    return build.Where(build.Greater(steps, low), steps, low)
