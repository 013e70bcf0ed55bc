"""Replace Mod by Div, Mul and Sub.

What it does:
Writes the remainder as ``a - (a / b) * b``. Integer Div of ONNX truncates towards zero, so that
is the remainder with the sign of the dividend (``fmod=1``). For ``fmod=0``, where the sign is that
of the divisor, the divisor is added and the remainder taken once more, which needs no comparison;
divisors above 2**30 are added with Less and Where instead. Where the dividend cannot be negative
(a size, an index) nothing is added. No Floor is used on integers. Integers of 8 and 16 bits are
computed as int32, uint32 as int64. A constant divisor -1 is replaced by 1, which leaves the same
remainder 0 and never divides the smallest integer by -1.

Floats are divided with the quotient corrected: the product of quotient and divisor is taken
without error, in two halves, so that the remainder is exact and not off by a divisor next to its
multiples. float16 is computed as float32. ``fmod=0`` on floats, which ONNX forbids and exporters
wrote, has the sign of the divisor, as in Python.
Why engines need it:
TensorRT has an importer for Mod from 8.5 on, and there refuses floats with ``fmod=0`` and integers
of 8 bits; older versions have none.
Before: z = Mod (x, seven)
After:
    q = Div (x, seven)
    p = Mul (q, seven)
    r = Sub (x, p)
    t = Add (r, seven)
    u = Div (t, seven)
    v = Mul (u, seven)
    z = Sub (t, v)
When it refuses:
Unknown dtypes; an integer divisor that holds 0, or is computed at run time and not proved to be
at least 1 (sizes joined with Max, for one). The option ``assume_nonzero`` takes the user's word
that no divisor is 0; a divisor -1 is guarded then.
Accuracy:
Integers: exact for every operand, the extremes included (onnxruntime's own ``fmod=1`` goes through
double and is less exact above 2**53). float16: exact, for quotients from 2**13 on provided that
the engine rounds every operation. float32 and float64: approximate, with this
domain: bit for bit equal to C's fmod for quotients below 2**47 (2**105 for float64) and divisors
below 2**114 (2**995), subnormal ones included, zeros, infinities and NaN as C has them, provided
the engine rounds every operation. Beyond the domain the remainder may be off by more than the
divisor, or NaN. An engine that fuses a multiplication and a subtraction loses the correction: the
error is then up to 2**-23 of the dividend (2**-52), and next to a multiple of the divisor the
remainder may be 0 instead of the divisor or the other way round. bfloat16 is computed as float32,
within the same domain. With ``fmod=0`` one rounding comes on top where the divisor is added, as in
Python.

References:
https://onnx.ai/onnx/operators/onnx__Mod.html and onnx__Div.html;
onnx/onnx-tensorrt 8.6 builtin_op_importers.cpp 3063-3112; pytorch/TensorRT issue 2465;
onnxruntime/core/providers/cpu/math/element_wise_ops.cc (Mod).
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.analysis.folding.lower_bounds import lower_bound
from graphfix.authoring import APPROXIMATE, EXACT, Builder, NodeView, Option, Refuse, Value, rewrite

from ._truncating import DIGITS, differing_signs, truncated_remainder, with_sign_of_divisor

Array = np.ndarray[Any, Any]
_WIDER = {
    "int8": ("int32", TensorProto.INT32),
    "int16": ("int32", TensorProto.INT32),
    "uint8": ("int32", TensorProto.INT32),
    "uint16": ("int32", TensorProto.INT32),
    "uint32": ("int64", TensorProto.INT64),
    "float16": ("float32", TensorProto.FLOAT),
    "bfloat16": ("float32", TensorProto.FLOAT),
}
_UNSIGNED = frozenset({"uint8", "uint16", "uint32", "uint64"})
_INTEGERS = _UNSIGNED | {"int8", "int16", "int32", "int64"}
_FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})
# Twice as much still fits int32, which is what some engines compute int64 in.
_ADDABLE = 2**30
_STAGES = 2


@rewrite(
    "Mod",
    removes="op:Mod dtype:Mod.* attr:Mod.*",
    emits="Abs Add Cast Div Equal Floor Less Mul Neg Sub Where",
    since=10,
    options={
        "assume_nonzero": Option(bool, False, "Take it that no divisor computed at run time is 0.")
    },
)
def mod_elimination(node: NodeView, build: Builder) -> Value:
    """Return the remainder of the two inputs without Mod."""
    a, b = node.need(0), node.need(1)
    if a.type_name not in _INTEGERS | _FLOATS:
        raise Refuse(f"the operands must be integers or floats; they are {a.type_name}")
    truncating = bool(node.attr("fmod", 0))
    if a.type_name in _FLOATS:
        rest = _of_floats(build, _widened(build, a), _widened(build, b), truncating)
        _label(build, a)
    else:
        rest = _of_integers(build, a, b, truncating)
    return build.Cast(rest, to=a.elem_type) if a.type_name in _WIDER else rest


def _label(build: Builder, a: Value) -> None:
    if a.type_name == "float16":
        return
    digits = DIGITS.get(a.type_name, DIGITS["float32"])
    build.declare(
        APPROXIMATE,
        f"equal to fmod for quotients below 2**{_STAGES * digits - 1} where every operation is "
        f"rounded; where an engine fuses operations, off by up to 2**-{digits - 1} of the dividend "
        "or, next to a multiple of the divisor, by the divisor",
    )


def _widened(build: Builder, value: Value) -> Value:
    if value.type_name not in _WIDER:
        return value
    return build.in_type(value, _WIDER[value.type_name][1])


def _of_floats(build: Builder, a: Value, b: Value, truncating: bool) -> Value:
    rest = truncated_remainder(build, a, b, _STAGES)
    return rest if truncating else with_sign_of_divisor(build, rest, b)


def _of_integers(build: Builder, a: Value, b: Value, truncating: bool) -> Value:
    known = build.const(b)
    if known is not None and not known.all():
        raise Refuse("the divisor must not hold 0; it does")
    positive = (lower_bound(b) or 0) >= 1
    if known is None and not positive and not build.option("assume_nonzero"):
        raise Refuse(
            "the divisor must be known not to be 0, nor -1 for the smallest dividend; it is "
            "computed at run time"
        )
    plain = truncating or a.type_name in _UNSIGNED or (positive and _never_negative(a))
    dividend = _widened(build, a)
    if known is not None:
        return _by_constant(build, dividend, _widened_divisor(a, known), plain)
    divisor = _widened(build, b)
    if not positive:
        build.declare(EXACT, "given that no divisor is 0")
        if a.type_name not in _UNSIGNED:
            one = np.ones((), dtype=divisor.dtype)
            divisor = build.Where(build.Equal(divisor, -one), one, divisor)
    rest = _remainder(build, dividend, divisor)
    if plain:
        return rest
    if positive:
        return build.Where(build.Less(rest, 0), build.Add(rest, divisor), rest)
    one = np.ones((), dtype=divisor.dtype)
    sign = build.Where(build.Less(divisor, 0), -one, one)
    differs = build.Less(build.Mul(rest, sign), 0)
    return build.Where(differs, build.Add(rest, divisor), rest)


def _never_negative(value: Value) -> bool:
    bound = lower_bound(value)
    return bound is not None and bound >= 0


def _widened_divisor(a: Value, known: Array) -> Array:
    divisor = known.astype(_WIDER[a.type_name][0]) if a.type_name in _WIDER else known
    if a.type_name in _UNSIGNED:
        return divisor
    return np.where(divisor == -1, 1, divisor).astype(divisor.dtype)


def _by_constant(build: Builder, a: Value, divisor: Array, plain: bool) -> Value:
    b = build.constant(divisor)
    rest = _remainder(build, a, b)
    if plain or (divisor == 1).all():
        return rest
    if int(divisor.min()) >= -_ADDABLE and int(divisor.max()) <= _ADDABLE:
        return _remainder(build, build.Add(rest, b), b)
    return build.Where(differing_signs(build, rest, divisor), build.Add(rest, b), rest)


def _remainder(build: Builder, a: Value, b: Value) -> Value:
    return build.Sub(a, build.Mul(build.Div(a, b), b))
