"""Write powers of integers as products.

What it does: Squares the base again and again and multiplies by those squares whose bit the
    exponent has. A power below 0 of anything but 1 and -1 is 0.
Why engines need it: TensorRT refuses Pow of integers up to 10.11; floats hold no power beyond 2^24.
Before: y = Pow (x, n)            # int32
After:
    b = Mul (x, x)
    y = Mul (Where (n has bit 0, x, 1), Mul (Where (n has bit 1, b, 1), ...))
When it refuses: The base is not int32 or int64; the exponent is neither an integer nor a constant
    of integers.
Accuracy: Exact for every power that the type holds; others wrap around, while onnxruntime saturates
    them. A power of 0 below 0 is not defined.
References: onnx2trt_utils.cpp:865 of onnx-tensorrt, release 8.6;
    https://onnx.ai/onnx/operators/onnx__Pow.html
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_type, rewrite

# How many bits of the exponent count: 2^31 and 2^63 are no int32 and int64 any more.
_BITS: dict[int, int] = {TensorProto.INT32: 5, TensorProto.INT64: 6}


@rewrite(
    "Pow",
    removes="dtype:Pow.int32 dtype:Pow.int64",
    emits="Add And Cast Div Equal Greater Less Mul Or Sub Where",
    since=12,
)
def pow_of_integers_by_squaring(node: NodeView, build: Builder) -> Value:
    """Multiply squares, see the module."""
    x = node.need(0)
    need_type(x, _BITS)
    assert x.dtype is not None
    exponent = _whole(node.need(1), x, build)

    def of(number: int) -> Value:
        return build.constant(np.array(number, x.dtype))

    negative = build.Less(exponent, of(0))
    rest = build.Where(negative, build.Sub(of(0), exponent), exponent)
    bits = _BITS[x.elem_type]
    # Beyond all bits only whether it is odd counts: powers of -1, 0 and 1 alone fit.
    half = build.Mul(build.Div(rest, of(2)), of(2))
    large = build.Add(build.Sub(rest, half), of(2**bits - 2))
    rest = build.Where(build.Greater(rest, of(2**bits - 1)), large, rest)
    result, square = of(1), x
    for bit in range(bits):
        half = build.Div(rest, of(2))
        odd = build.Greater(build.Sub(rest, build.Mul(half, of(2))), of(0))
        result = build.Mul(result, build.Where(odd, square, of(1)))
        rest = half
        if bit + 1 < bits:
            square = build.Mul(square, square)
    vanishes = build.Or(build.Greater(x, of(1)), build.Less(x, of(-1)))
    return build.Where(build.And(negative, vanishes), of(0), result)


def _whole(exponent: Value, x: Value, build: Builder) -> Value:
    """Return the exponent in the type of the base.

    Raises:
        Refuse: It is a float, and not known to be whole.
    """
    if exponent.dtype is not None and exponent.dtype.kind in "iu":
        same = exponent.elem_type == x.elem_type
        return exponent if same else build.Cast(exponent, to=x.elem_type)
    known: np.ndarray[Any, Any] | None = build.const(exponent)
    if known is None or known.dtype.kind != "f" or not (np.abs(known) < 2**24).all():
        raise Refuse(f"{exponent.name} must be integers; it is {exponent.type_name}")
    if (known != np.floor(known)).any():
        raise Refuse(f"{exponent.name} must be integers; one has a fraction")
    return build.constant(known.astype(x.dtype))
