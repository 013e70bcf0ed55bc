"""Bitwise operators and shifts of int64 and int32 by arithmetic of numbers that are small.

No number beyond 17 bits is written, and every step stays within what the operands take, so that an
engine which holds int64 in 32 bits computes what it holds.
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from graphfix.authoring.building import Builder
from graphfix.ir.views import Value

_DIGIT = 16  # bits
_BASE = 1 << _DIGIT
_STEP = 15  # bits of one factor of a shift


def combined_bits(op: str, a: Value, b: Value, build: Builder) -> Value:
    """Combine two tensors of int64, or of int32, bit by bit.

    Args:
        op: ``And``, ``Or`` or ``Xor``.
        a: The one; its rank is known.
        b: The other, of the same type; the two broadcast.
        build: The builder.
    """
    digits = _bits_of(a) // _DIGIT
    one, other = (_apart(_digits(x, digits, build), build) for x in (a, b))
    product = build.Mul(one, other)
    if op == "Xor":
        mixed = build.Sub(build.Add(one, other), build.Add(product, product))
    else:
        mixed = product if op == "And" else build.Sub(build.Add(one, other), product)
    powers = np.left_shift(1, np.arange(_DIGIT)).astype(a.dtype)
    whole = build.ReduceSum(build.Mul(mixed, powers), axes=[-1], keepdims=0)
    return _joined(whole, digits, build)


def shifted(x: Value, by: Value, build: Builder, *, left: bool) -> Value:
    """Shift int64 or int32 by as many bits; by less than none or by all of them nothing is left.

    Args:
        x: What is shifted.
        by: Of the same type; the two broadcast.
        build: The builder.
        left: Whether towards the larger. To the right the sign stays.
    """
    bits = _bits_of(x)
    low, most = (_held(x, n, build) for n in (0, bits - 1))
    outside = build.Or(build.Less(by, low), build.Less(most, by))
    count = build.Where(outside, most, by)
    table = build.constant(np.left_shift(1, np.arange(_STEP + 1)).astype(x.dtype))
    for _ in range(-(-(bits - 1) // _STEP)):
        step = _least(count, _held(x, _STEP, build), build)
        factor = build.Gather(table, step, axis=0)
        x = build.Mul(x, factor) if left else _quotient(x, factor, build)
        count = build.Sub(count, step)
    return build.Where(outside, low, x) if left else x


def _bits_of(x: Value) -> int:
    return 64 if x.elem_type == TensorProto.INT64 else 32


def _held(x: Value, number: int, build: Builder) -> Value:
    return build.constant(np.array(number, x.dtype))


def _least(a: Value, b: Value, build: Builder) -> Value:
    return build.Where(build.Less(a, b), a, b)


def _quotient(x: Value, by: Value, build: Builder) -> Value:
    """Divide by numbers from 1 on, rounding down; Div of integers rounds towards 0."""
    whole = build.Div(x, by)
    below = build.Less(x, build.Mul(whole, by))
    return build.Sub(whole, build.Cast(below, to=x.elem_type))


def _digits(x: Value, count: int, build: Builder) -> Value:
    """Return the digits of 16 bits along a new last axis, the lowest first, none negative."""
    assert x.rank is not None  # the callers have looked
    base = _held(x, _BASE, build)
    found: list[Value] = []
    for at in range(count):
        # The highest one has the sign.
        rest = _quotient(x, base, build)
        digit = build.Sub(x, build.Mul(rest, base))
        found.append(build.Unsqueeze(digit, axes=[x.rank]))
        x = rest if at < count - 1 else x
    return build.Concat(*found, axis=x.rank)


def _apart(digits: Value, build: Builder) -> Value:
    """Return the bits of each digit along a new last axis, as 0 and 1."""
    assert digits.rank is not None
    powers = np.left_shift(1, np.arange(_DIGIT)).astype(digits.dtype)
    high = build.Div(build.Unsqueeze(digits, axes=[digits.rank]), powers)
    half = build.Div(high, _held(high, 2, build))
    return build.Sub(high, build.Add(half, half))


def _joined(digits: Value, count: int, build: Builder) -> Value:
    rank = digits.rank
    assert rank is not None
    parts = [
        build.Squeeze(build.Slice(digits, starts=[at], ends=[at + 1], axes=[rank - 1]),
                      axes=[rank - 1])
        for at in range(count)
    ]  # fmt: skip
    base = _held(digits, _BASE, build)
    top = parts[-1]
    negative = build.Cast(build.Less(_held(top, _BASE // 2 - 1, build), top), to=top.elem_type)
    total = build.Sub(top, build.Mul(negative, base))
    for part in reversed(parts[:-1]):
        total = build.Add(build.Mul(total, base), part)
    return total
