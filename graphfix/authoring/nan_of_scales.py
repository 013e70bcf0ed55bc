"""NaN that scales of quantization make, and what QuantizeLinear returns for it.

Scales are infinite, or next to it, where a quantizer has measured a mask of -inf or of the least
float32. ONNX leaves open what QuantizeLinear gives for NaN; onnxruntime gives the least number, on
every processor: microsoft/onnxruntime, onnxruntime/core/mlas/lib/quantize.cpp
(MlasQuantizeLinearVector), measured on 1.16.3 and 1.32.0.
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from graphfix.authoring.building import Builder
from graphfix.ir.views import Array, Value

# As far as NaN is followed: between two pairs of quantization there are a few nodes.
_STEPS = 24
_NEXT_TO = float(np.finfo(np.float32).max) / 2**17
_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16)


def may_be_nan(x: Value) -> bool:
    """Say whether NaN of such a scale gets here, on a way without another QuantizeLinear.

    What is dequantized is infinite where the scale is, and next to the greatest float32 where a
    step less of the mask is; times 0, or less itself, it is NaN.
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
        if maker.op not in ("DequantizeLinear", "QuantizeLinear"):
            waiting.extend(operand for operand in maker.inputs if operand is not None)
    return False


def _may_be_infinite(scale: Value | None) -> bool:
    """Say whether a constant is infinite, or becomes so times an integer of 16 bits."""
    known = scale.array() if scale is not None and scale.is_constant else None
    if known is None or known.dtype.kind != "f":
        return False
    return bool(np.any(np.isinf(known) | (known > _NEXT_TO)))


def least_for_nan(build: Builder, steps: Value, low: Array) -> Value:
    """Return the least step for NaN, which is above nothing, and the rest as it is."""
    return build.Where(build.Greater(steps, low), steps, low)
