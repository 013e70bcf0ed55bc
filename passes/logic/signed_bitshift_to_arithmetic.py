"""Write BitShift of signed integers as products or quotients.

What it does: A shift to the left multiplies by a power of two and lets go what does not fit; one to
    the right divides by it and rounds down, which for a number below 0 is the complement of what
    its complement gives. Powers beyond 2^30 are taken in two or three steps, so that no step needs
    a number that int32 does not hold. int8 and int16 are shifted in int32 and cast back.
Why engines need it: BitShift takes signed integers from opset 28 on, which no kernel that is older
    has, and no version of TensorRT has BitShift.
Before: y = BitShift <direction = "RIGHT"> (x, k)        # int32
After:
    n = Where (Less (k, 0), 32, Where (Less (k, 32), k, 32))
    a = Where (Less (x, 0), Sub (-1, x), x)
    b = Div (Div (a, Gather ([1, 2, ..., 2^30, 2^30, 2^30], n)), Gather ([1, ..., 1, 2, 2], n))
    y = Where (Less (x, 0), Sub (-1, b), b)
When it refuses: The numbers are unsigned.
Accuracy: Exact for every shift: one below 0, or by as many bits as there are or more, leaves -1 of
    a negative number to the right, and 0 otherwise, as the page of the operator says.
References: https://onnx.ai/onnx/operators/onnx__BitShift.html; operators.md of onnx-tensorrt,
    release 8.6
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, rewrite

_BITS: dict[int, int] = {
    TensorProto.INT8: 8,
    TensorProto.INT16: 16,
    TensorProto.INT32: 32,
    TensorProto.INT64: 64,
}
_STEP = 30  # the largest power of two that int32 holds


@rewrite(
    "BitShift",
    removes="op:BitShift dtype:BitShift.*",
    emits="Cast Div Gather Less Mul Sub Add Where",
)
def signed_bitshift_to_arithmetic(node: NodeView, build: Builder) -> Value:
    """Multiply or divide by powers of two, see the module."""
    x, by = node.need(0), node.need(1)
    bits = _BITS.get(x.elem_type)
    if bits is None:
        raise Refuse(f"the numbers must be signed integers; they are {x.type_name or 'unknown'}")
    kind = TensorProto.INT64 if bits == 64 else TensorProto.INT32
    wide = _as(kind, x, build)
    places = _places(_as(kind, by, build), bits, build)
    left = node.attr("direction") in (b"LEFT", "LEFT")
    result = _left(wide, places, bits, build) if left else _right(wide, places, bits, build)
    return build.Cast(result, to=x.elem_type) if kind != x.elem_type else result


def _as(kind: int, value: Value, build: Builder) -> Value:
    return value if value.elem_type == kind else build.in_type(value, kind)


def _places(by: Value, bits: int, build: Builder) -> Value:
    """Return where in the tables a shift is: the last place is for all beyond the bits."""
    beyond = np.array(bits, by.dtype)
    known = build.const(by)
    if known is not None:
        return build.constant(np.where((known < 0) | (known > bits), beyond, known))
    return build.Where(build.Less(by, 0), beyond, build.Where(build.Less(by, beyond), by, beyond))


def _tables(exponents: Array, wide: Value) -> list[Array]:
    """Return the powers of two in steps that int32 holds."""
    found: list[Array] = []
    for first in range(0, int(exponents.max()), _STEP):
        powers = np.power(2, np.clip(exponents - first, 0, _STEP))
        found.append(powers.astype(wide.dtype))
    return found


def _picked(table: Array, places: Value, build: Builder) -> Value:
    known = build.const(places)
    if known is not None:
        return build.constant(table[known])
    return build.Gather(table, places, axis=0)


def _left(x: Value, places: Value, bits: int, build: Builder) -> Value:
    result = x
    for table in _tables(np.arange(bits + 1), x):
        table[bits] = 0
        result = build.Mul(result, _picked(table, places, build))
    if bits in (32, 64):
        return result  # the product has let go what goes out
    whole, half = np.array(2**bits, x.dtype), np.array(2 ** (bits - 1), x.dtype)
    rest = build.Sub(result, build.Mul(build.Div(result, whole), whole))
    rest = build.Where(build.Less(rest, half), rest, build.Sub(rest, whole))
    return build.Where(build.Less(rest, -half), build.Add(rest, whole), rest)


def _right(x: Value, places: Value, bits: int, build: Builder) -> Value:
    negative, all_ones = build.Less(x, 0), np.array(-1, x.dtype)
    result = build.Where(negative, build.Sub(all_ones, x), x)
    for table in _tables(np.minimum(np.arange(bits + 1), bits - 1), x):
        result = build.Div(result, _picked(table, places, build))
    return build.Where(negative, build.Sub(all_ones, result), result)
