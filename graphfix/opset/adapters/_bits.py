"""Bits in arithmetic: shifts of signed numbers, bitwise operators, and numbers taken as bits.

Casts between integers drop the higher bits and keep the rest as two's complement, as the operator
page of Cast says (https://onnx.ai/onnx/operators/onnx__Cast.html, "fixed point to fixed point").
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from onnx import TensorProto

from graphfix.authoring import Builder, Refuse, Value

_INT32: int = TensorProto.INT32
_INT64: int = TensorProto.INT64
_UINT32: int = TensorProto.UINT32
_UINT64: int = TensorProto.UINT64
_DOUBLE: int = TensorProto.DOUBLE
SIGNED: dict[int, int] = {
    TensorProto.INT8: 8,
    TensorProto.INT16: 16,
    TensorProto.INT32: 32,
    TensorProto.INT64: 64,
}
_SUMMED = 32
UNSIGNED: dict[int, int] = {
    TensorProto.UINT8: 8,
    TensorProto.UINT16: 16,
    TensorProto.UINT32: 32,
    TensorProto.UINT64: 64,
}


class Layout(Struct, frozen=True):
    """How a float type lies in its bits: sign, exponent, mantissa."""

    exponent: int
    mantissa: int

    @property
    def width(self) -> int:
        """How many bits there are."""
        return 1 + self.exponent + self.mantissa

    @property
    def bias(self) -> int:
        """What is added to the exponent."""
        return (1 << (self.exponent - 1)) - 1


LAYOUTS: dict[int, Layout] = {
    TensorProto.FLOAT16: Layout(5, 10),
    TensorProto.BFLOAT16: Layout(8, 7),
    TensorProto.FLOAT: Layout(8, 23),
    TensorProto.DOUBLE: Layout(11, 52),
}


def shift(x: Value, by: Value, direction: str, build: Builder) -> Value:
    """Shift signed integers; by a negative number, or by all their bits, only the sign is left.

    Args:
        x: int8, int16, int32 or int64.
        by: The same dtype.
        direction: ``LEFT`` or ``RIGHT``.
        build: The builder.
    """
    kind = x.elem_type
    width = SIGNED[kind]
    wide, plain = (_INT64, _UINT64) if width == 64 else (_INT32, _UINT32)
    number = x if kind == wide else build.Cast(x, to=wide)
    count = by if kind == wide else build.Cast(by, to=wide)
    outside = build.Or(build.Less(count, 0), build.Greater(count, width - 1))
    steps = build.Cast(build.Where(outside, _like(count, width - 1), count), to=plain)
    if direction == "LEFT":
        moved = build.BitShift(build.Cast(number, to=plain), steps, direction="LEFT")
        result = build.Where(outside, _like(number, 0), build.Cast(moved, to=wide))
    else:
        negative = build.Less(number, 0)
        turned = build.Where(negative, build.Sub(_of(number, -1, build), number), number)
        moved = build.BitShift(build.Cast(turned, to=plain), steps, direction="RIGHT")
        rest = build.Cast(moved, to=wide)
        result = build.Where(negative, build.Sub(_of(rest, -1, build), rest), rest)
    return result if kind == wide else build.Cast(result, to=kind)


def _like(value: Value, number: int) -> np.generic:
    assert value.dtype is not None
    scalar: np.generic = np.dtype(value.dtype).type(number)
    return scalar


def _of(value: Value, number: int, build: Builder) -> Value:
    return build.constant(np.array(_like(value, number)))


def bitwise(op: str, left: Value, right: Value, build: Builder) -> Value:
    """Compute BitwiseAnd, BitwiseOr or BitwiseXor bit by bit, in a further axis.

    Args:
        op: The operator.
        left: Integers.
        right: The same dtype; the two are broadcast.
        build: The builder.
    """
    kind = left.elem_type
    signed = kind in SIGNED or UNSIGNED.get(kind) == 64
    width = SIGNED.get(kind) or UNSIGNED[kind]
    lowest = -(2 ** (width - 1))
    lanes = width - 1 if signed else width
    places = build.constant(np.array([2**bit for bit in range(lanes)], dtype=np.int64))
    parts: list[tuple[Value, Value | None]] = []
    for value in (left, right):
        number = value if kind == _INT64 else build.Cast(value, to=_INT64)
        sign: Value | None = None
        if signed:
            negative = build.Less(number, 0)
            sign = build.Cast(negative, to=_INT64)
            number = build.Where(negative, build.Sub(number, lowest), number)
        spread = build.Div(build.Unsqueeze(number, axes=[-1]), places)
        parts.append((build.Mod(spread, 2), sign))
    (one, one_sign), (other, other_sign) = parts
    bits = _combine(op, one, other, build)
    if lanes > _SUMMED:
        # onnxruntime adds int64 up in floats, so that a sum has to stay below 2^53.
        low = _sum(bits, 0, _SUMMED, build)
        high = _sum(bits, _SUMMED, lanes, build)
        result = build.Add(low, build.Mul(high, 2**_SUMMED))
    else:
        result = _sum(bits, 0, lanes, build)
    if one_sign is not None and other_sign is not None:
        sign = _combine(op, one_sign, other_sign, build)
        result = build.Add(result, build.Mul(sign, lowest))
    return result if kind == _INT64 else build.Cast(result, to=kind)


def _sum(bits: Value, first: int, last: int, build: Builder) -> Value:
    """Add up some bits, of which the first counts 1."""
    part = build.Slice(bits, [first], [last], [-1])
    powers = build.constant(np.array([2**bit for bit in range(last - first)], dtype=np.int64))
    return build.ReduceSum(build.Mul(part, powers), axes=[-1], keepdims=0)


def _combine(op: str, one: Value, other: Value, build: Builder) -> Value:
    both = build.Mul(one, other)
    if op == "BitwiseAnd":
        return both
    if op == "BitwiseXor":
        both = build.Add(both, both)
    return build.Sub(build.Add(one, other), both)


def invert(x: Value, build: Builder) -> Value:
    """Compute BitwiseNot of integers."""
    kind = x.elem_type
    number = x if kind == _INT64 else build.Cast(x, to=_INT64)
    result = build.Sub(build.constant(np.array(-1, dtype=np.int64)), number)
    return result if kind == _INT64 else build.Cast(result, to=kind)


def reinterpret(x: Value, to: int, build: Builder) -> Value:
    """Compute BitCast; the payload of a NaN is not kept.

    Raises:
        Refuse: One of the types is neither an integer nor one of `LAYOUTS`, or bits would become
            bools.
    """
    kind = x.elem_type
    whole = {**SIGNED, **UNSIGNED}
    if kind == to:
        return build.Identity(x)
    if kind in LAYOUTS and to in LAYOUTS:
        signed = {width: code for code, width in SIGNED.items()}
        return from_bits(to_bits(x, signed[LAYOUTS[kind].width], build), to, build)
    if kind in LAYOUTS and to in whole:
        return to_bits(x, to, build)
    if to in LAYOUTS and kind in whole:
        return from_bits(x, to, build)
    if to in whole and (kind in whole or kind == TensorProto.BOOL):
        return build.Cast(x, to=to)
    raise Refuse(
        f"the dtype must be one whose bits have a counterpart in arithmetic; it is {x.type_name}"
    )


def to_bits(x: Value, to: int, build: Builder) -> Value:
    """Return the bits of floats as integers of the same width."""
    layout = LAYOUTS[x.elem_type]
    wide = x if x.elem_type == _DOUBLE else build.Cast(x, to=_DOUBLE)
    size = build.Abs(wide)
    # 1 / -0 is minus infinity: the one way to tell it from 0.
    negative = build.Or(
        build.Less(wide, 0.0),
        build.And(build.Equal(size, 0.0), build.Less(build.Reciprocal(wide), 0.0)),
    )
    unit, exponent = _normalised(size, build)
    smallest = 1 - layout.bias
    tiny = build.Less(exponent, smallest)
    half = 2.0 ** ((layout.mantissa - smallest) // 2)
    rest = 2.0 ** (layout.mantissa - smallest - (layout.mantissa - smallest) // 2)
    fraction = build.Mul(build.Sub(unit, 1.0), 2.0**layout.mantissa)
    subnormal = build.Mul(build.Mul(size, half), rest)
    mantissa = build.Cast(build.Where(tiny, subnormal, fraction), to=_INT64)
    biased = build.Where(tiny, _of(exponent, 0, build), build.Add(exponent, layout.bias))
    bits = build.Add(build.Mul(biased, 2**layout.mantissa), mantissa)
    infinite = (2**layout.exponent - 1) * 2**layout.mantissa
    strange = build.Where(
        build.IsNaN(wide), _of(bits, infinite + 2 ** (layout.mantissa - 1), build),
        _of(bits, infinite, build),
    )  # fmt: skip
    bits = build.Where(build.Or(build.IsNaN(wide), build.IsInf(wide)), strange, bits)
    signed = build.Where(negative, build.Add(bits, -(2 ** (layout.width - 1))), bits)
    return signed if to == _INT64 else build.Cast(signed, to=to)


def _normalised(size: Value, build: Builder) -> tuple[Value, Value]:
    """Return numbers from 1 to 2 and powers of two whose product is `size`, where it is not 0."""
    unit = size
    exponent = build.Cast(
        build.Mul(build.Cast(build.Equal(size, size), to=_DOUBLE), 0.0), to=_INT64
    )
    for step in (512, 256, 128, 64, 32, 16, 8, 4, 2, 1):
        big = build.Not(build.Less(unit, 2.0**step))
        unit = build.Where(big, build.Mul(unit, 2.0**-step), unit)
        exponent = build.Add(exponent, build.Mul(build.Cast(big, to=_INT64), step))
    for step in (512, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1):
        small = build.Less(unit, 2.0 ** (1 - step))
        unit = build.Where(small, build.Mul(unit, 2.0**step), unit)
        exponent = build.Sub(exponent, build.Mul(build.Cast(small, to=_INT64), step))
    return unit, exponent


def from_bits(x: Value, to: int, build: Builder) -> Value:
    """Return the floats whose bits are integers of the same width."""
    layout = LAYOUTS[to]
    number = x if x.elem_type == _INT64 else build.Cast(x, to=_INT64)
    lowest = -(2 ** (layout.width - 1))
    if x.elem_type in UNSIGNED and layout.width < 64:
        negative = build.Greater(number, -lowest - 1)
        low = build.Where(negative, build.Add(number, lowest), number)
    else:
        negative = build.Less(number, 0)
        low = build.Where(negative, build.Sub(number, lowest), number)
    scale = 2**layout.mantissa
    biased, mantissa = build.Div(low, scale), build.Mod(low, scale)
    smallest = 1 - layout.bias - layout.mantissa
    powers = [0.0 if e < 1 else 2.0 ** (e - 1 + smallest) for e in range(2**layout.exponent - 1)]
    powers[0] = 2.0**smallest
    table = build.constant(np.array([*powers, 1.0], dtype=np.float64))
    fraction = build.Cast(mantissa, to=_DOUBLE)
    hidden = build.Where(build.Equal(biased, 0), fraction, build.Add(fraction, float(scale)))
    size = build.Mul(hidden, build.Gather(table, biased, axis=0))
    last = build.Equal(biased, 2**layout.exponent - 1)
    strange = build.Where(build.Equal(mantissa, 0), _double(np.inf, build), _double(np.nan, build))
    size = build.Where(last, strange, size)
    # A product keeps the sign of 0, which Where may lose.
    sign = build.Where(negative, _double(-1.0, build), _double(1.0, build))
    value = build.Mul(size, sign)
    return value if to == _DOUBLE else build.Cast(value, to=to)


def _double(number: float, build: Builder) -> Value:
    return build.constant(np.array(number, dtype=np.float64))
