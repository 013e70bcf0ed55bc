"""Numbers beyond int32, and what onnxruntime returns for them.

Scales are infinite, or next to it, where a quantizer has measured a mask of -inf or of the least
float32. What kernels do then was read in microsoft/onnxruntime, onnxruntime/core/mlas/lib
(qladd.cpp, qlmul.cpp), and measured on 1.16.3 and 1.32.0, x86-64: QLinearAdd and QLinearMul round
to int32 before they limit: NaN, and what is 2^31 or more in either direction, is the least int32
there, and so the least byte.
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Value

PAST = 2.0**31


def least_past_int32(build: Builder, total: Value, least: float, largest: float) -> Value:
    """Return the least step for what int32 does not hold, and for NaN.

    Args:
        build: The builder.
        total: Float32, before it is rounded.
        least: The least byte.
        largest: What `total` is at most, in size; NaN where it is not known.
    """
    if largest < PAST / 2:  # far from it, however sums are rounded
        return total
    return build.Where(
        build.Less(total, np.float32(PAST)), total, build.constant(np.float32(least))
    )


def like(build: Builder, number: Value, constant: float) -> Value:
    """Return a constant in the shape of numbers that are finite."""
    return build.Add(build.Mul(number, np.float32(0)), np.float32(constant))


def reach(node: NodeView, build: Builder, place: int, zero: Array) -> tuple[int, int]:
    """Return the least and the largest that bytes less their zero point are."""
    x = node.need(place)
    known = build.const(x)
    info = np.iinfo(np.int8 if x.elem_type == TensorProto.INT8 else np.uint8)
    low, high = int(info.min), int(info.max)
    if known is not None and known.size:
        low, high = int(known.min()), int(known.max())
    return low - int(zero), high - int(zero)
