"""Replace nextafter by a sum with the distance of neighbouring floats.

What it does: Takes the number apart into a mantissa and a power of two by exact steps, as
    aten-frexp does; the neighbour away from 0 is the power times 2**-24 further, the one towards 0
    as near, and half as near below a power of two.
Why engines need it: ONNX has no such operator, and PyTorch's exporter does not translate it.
Before: y = org.pytorch.aten.ATen <operator = "nextafter"> (x, z)
After:
    unit = Max (power * 2**-24, 2**-149)                             power of Abs (x)
    y = Where (Less (x, z), Add (x, unit), Sub (x, unit))
When it refuses: A type is unknown or not float32, ranks are unknown where types differ, or the
    opset is below 9, which brought Where.
Accuracy: Exact for every float32 number; what is below 1e-38 has to be computed with, not taken for
    0. NaN where either is; equal numbers give the second one. The sign of a zero may be lost in
    Where.
References: pytorch/pytorch aten/src/ATen/native/cpu/BinaryOpsKernel.cpp (nextafter);
    https://en.cppreference.com/w/c/numeric/math/nextafter
"""

from typing import Any

import numpy as np

from graphfix.authoring import Builder, Refuse, Value

from ._arguments import Call
from ._arithmetic import two
from ._exponents import taken_apart
from ._family import Family

_LARGEST = float(np.finfo(np.float32).max)
_SMALLEST = 2.0**-149
_NORMAL = 2.0**-126


def _write(build: Builder, _: Call, v: list[Any]) -> Value:
    x, z = v
    if x.dtype != np.float32 or build.opset < 9:
        raise Refuse(f"the operands must be float32, of opset 9 or later; they are {x.dtype}")
    size = build.Abs(x)
    # The mantissa has 24 bits.
    start = build.constant(np.array(2.0**-24, np.float32))
    mantissa, unit = taken_apart(
        build, size, start, lambda spacing, by: build.Mul(spacing, 2.0**by)
    )
    unit = build.Max(unit, np.float32(_SMALLEST))
    # Below a power of two floats are twice as dense, unless they are the densest already.
    border = build.And(build.Less(mantissa, 0.50000006), build.Less(np.float32(_NORMAL), size))
    denser = build.Where(border, build.Mul(unit, 0.5), unit)
    inwards = build.Sub(size, denser)
    inwards = build.Where(build.Less(np.float32(_LARGEST), size), np.float32(_LARGEST), inwards)
    outwards = build.Add(size, unit)
    up, negative = build.Less(x, z), build.Less(x, 0.0)
    # Away from 0 where a number and the direction have one sign.
    away = build.Or(build.And(up, build.Not(negative)), build.And(build.Not(up), negative))
    moved = build.Where(away, outwards, inwards)
    moved = build.Where(negative, build.Neg(moved), moved)
    from_zero = build.Where(up, np.float32(_SMALLEST), np.float32(-_SMALLEST))
    moved = build.Where(build.Less(np.float32(0), size), moved, from_zero)
    # Equal numbers are no step apart; neither is NaN, which is not below or above anything.
    apart = build.Or(up, build.Less(z, x))
    number = build.Or(build.Less(x, np.float32(np.inf)), build.Less(np.float32(0), x))
    return build.Where(apart, moved, build.Where(number, z, x))


FAMILY = Family({
    "nextafter": two(_write, lambda _, v: np.nextafter(v[0], v[1]), takes="f").function(),
})  # fmt: skip


aten_nextafter = FAMILY.replaced(
    __name__,
    emits="Abs Add And Cast Less Max Mul Neg Not Or Sub Where",
    claims="nan inf",
)
