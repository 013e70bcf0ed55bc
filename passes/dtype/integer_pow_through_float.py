"""Compute powers of integers in floats.

What it does: Casts base and exponent to float32, takes the power, and rounds it to the nearest
    integer.
Why engines need it: TensorRT refuses Pow of integers up to 10.11.
Before: y = Pow (x, n)            # int32
After: y = Cast <to = 6> (Round (Pow (Cast <to = 1> (x), Cast <to = 1> (n))))
When it refuses: The base is no integer, the exponent neither integer nor a constant of float32 or
    float64 that is whole and up to 2^24, or the opset is below 12, where integers have no power.
Accuracy: Approximate: powers beyond 2^24 in size are rounded, and what overflows is not defined.
References: onnx2trt_utils.cpp:865 of onnx-tensorrt, release 8.6;
    https://onnx.ai/onnx/operators/onnx__Pow.html
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import APPROXIMATE, Builder, NodeView, Refuse, Value, rewrite

_MOST = 2.0**24


def _is_whole(exponents: np.ndarray[Any, Any] | None) -> bool:
    """Say whether constants are integers that float32 holds: no fraction is cut off then."""
    if exponents is None or exponents.dtype not in (np.float32, np.float64):
        return False
    wide = exponents.astype(np.float64)
    return bool((np.isfinite(wide) & (np.abs(wide) <= _MOST) & (wide == np.floor(wide))).all())


@rewrite(
    "Pow",
    removes="dtype:Pow.int32 dtype:Pow.int64",
    emits="Cast Pow Round",
    accuracy=APPROXIMATE,
    since=12,
)
def integer_pow_through_float(node: NodeView, build: Builder) -> Value:
    """Take the power in float32 and round, see the module."""
    x, n = node.need(0), node.need(1)
    if x.dtype is None or x.dtype.kind not in "iu":
        raise Refuse(f"{x.name} must be an integer; it is {x.type_name}")
    if (n.dtype is None or n.dtype.kind not in "iu") and not _is_whole(build.const(n)):
        raise Refuse(f"{n.name} must be integers; it is {n.type_name}, and not known to be whole")
    build.declare(APPROXIMATE, "powers beyond 2^24 in size are rounded")
    power = build.Pow(build.Cast(x, to=TensorProto.FLOAT), build.Cast(n, to=TensorProto.FLOAT))
    return build.Cast(build.Round(power), to=x.elem_type)
