"""Quantizing a tensor by the range of its own numbers, as DynamicQuantizeLinear does."""

import numpy as np

from graphfix.authoring import Builder, Value

from ._parameters import EMITTED, rounded

RANGING_EMITS = (*EMITTED, "Max", "Min", "Neg", "ReduceMax", "ReduceMin")
_LOW, _HIGH = np.float32(0), np.float32(255)


def ranged(build: Builder, x: Value) -> tuple[Value, Value, Value]:
    """Return steps, scale and zero point of a float32 tensor, all as float32.

    Args:
        build: The builder.
        x: What is quantized to uint8; its rank is known.
    """
    axes = list(range(x.rank or 0))
    least = build.ReduceMin(x, axes=axes, keepdims=0) if axes else x
    greatest = build.ReduceMax(x, axes=axes, keepdims=0) if axes else x
    low, high = build.Min(least, 0.0), build.Max(greatest, 0.0)
    width = build.Sub(high, low)
    # float32 has no Equal before opset 11; the width is never negative.
    some = build.Less(build.Neg(width), 0.0)
    scale = build.Where(some, build.Div(width, 255.0), np.float32(1))
    start = build.Clip(build.Div(build.Neg(low), scale), min=_LOW, max=_HIGH)
    zero = _limited(build, rounded(build, start), build.constant(np.float32(0)))
    steps = _limited(build, rounded(build, build.Div(x, scale)), zero)
    return steps, scale, zero


def _limited(build: Builder, steps: Value, zero: Value) -> Value:
    return build.Clip(build.Add(steps, zero), min=_LOW, max=_HIGH)
