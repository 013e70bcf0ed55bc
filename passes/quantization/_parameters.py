"""Scales and zero points of quantized operators, and numbers on the way to 8 bits and back.

What onnxruntime does, in what order and in which precision, was read in microsoft/onnxruntime:
onnxruntime/core/mlas/lib/quantize.cpp (MlasQuantizeLinear, MlasRequantizeOutput).
"""

from collections.abc import Callable, Collection
from typing import Any, cast

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, listed

from ._reading import RANGES

Number = Array | Value
BYTES = (TensorProto.INT8, TensorProto.UINT8)
# What is emitted in rounding and limiting, whatever the operator.
EMITTED = (
    *("Abs", "Add", "Cast", "Ceil", "Clip", "Div", "Floor", "Greater", "Less", "Max", "Mul"),
    *("Reshape", "Round", "Sub", "Where"),
)


def whole(build: Builder, x: Value) -> Value:
    """Return numbers of 8 bits as float32."""
    if x.elem_type not in BYTES:
        raise Refuse(f"{x.name} must be of 8 bits; it is {x.type_name}")
    return build.in_type(x, TensorProto.FLOAT)


def away(build: Builder, x: Value, zero: Number) -> Value:
    """Return numbers of 8 bits less their zero point, as float32."""
    number = whole(build, x)
    if isinstance(zero, np.ndarray) and not zero.any():
        return number
    return build.Sub(number, zero)


def largest(x: Value, zero: Number) -> int:
    """Return what a number of 8 bits less its zero point is at most, in size."""
    if isinstance(zero, Value):
        return 255
    low, high = RANGES[x.elem_type]
    known = zero.astype(np.int64)
    return int(max((high - known).max(), (known - low).max(), 0))


def times(build: Builder, a: Number, b: Number) -> Number:
    """Multiply in float32, at once where both are known."""
    return _joined(a, b, np.multiply, build.Mul)


def over(build: Builder, a: Number, b: Number) -> Number:
    """Divide in float32, at once where both are known."""
    return _joined(a, b, np.divide, build.Div)


def _joined(
    a: Number, b: Number, known: Callable[[Array, Array], Array], late: Callable[..., Value]
) -> Number:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.asarray(known(a, b), dtype=np.float32)
    return late(a, b)


def scale_at(
    node: NodeView,
    build: Builder,
    place: int,
    kinds: Collection[int] = (TensorProto.FLOAT,),
    *,
    infinite: bool = False,
) -> Number:
    """Return a scale as float32, of rank 0 or 1, which may be given in any of some types.

    Args:
        node: The quantized operator.
        build: The builder.
        place: Which input it is.
        kinds: The element types that it may have.
        infinite: Whether it may be infinite where it is constant, as quantizers leave it that have
            measured a mask of -inf.

    Raises:
        Refuse: It is no float32, no vector, not positive, infinite, or one of several late ones.
    """
    value = node.need(place)
    if value.elem_type not in kinds:
        raise Refuse(f"the scale {value.name} must be {listed(kinds)}; it is {value.type_name}")
    known = build.const(value)
    if known is None:
        narrow = value.elem_type != TensorProto.FLOAT
        return _one(build, build.Cast(value, to=TensorProto.FLOAT) if narrow else value)
    if not (known > 0).all():
        raise Refuse(f"the scale {value.name} must be positive; it is {_worst(known)}")
    if not infinite and np.isinf(known).any():
        raise Refuse(
            f"the scale {value.name} must be finite; it is infinite, as measured on a mask of -inf:"
            f" quantize again without this {node.op} (nodes_to_exclude)"
        )
    return _vector(known.astype(np.float32), value)


def _worst(known: Array) -> float:
    return float(known[~(known > 0)].reshape(-1)[0])


def one_scale(
    node: NodeView,
    build: Builder,
    place: int,
    kinds: Collection[int] = (TensorProto.FLOAT,),
    *,
    infinite: bool = False,
) -> Number:
    """Return a scale that is one value for the whole tensor, as float32."""
    return _single(node, scale_at(node, build, place, kinds, infinite=infinite), place)


def zero_at(node: NodeView, build: Builder, place: int) -> Number:
    """Return a zero point as float32 of rank 0 or 1; 0 where there is none."""
    value = node.input(place)
    if value is None:
        return np.zeros((), np.float32)
    known = build.const(value)
    if known is None:
        if value.elem_type not in BYTES:
            raise Refuse(f"the zero point {value.name} must be of 8 bits; it is {value.type_name}")
        return _one(build, build.Cast(value, to=TensorProto.FLOAT))
    return _vector(known.astype(np.float32), value)


def one_zero(node: NodeView, build: Builder, place: int) -> Number:
    """Return a zero point that is one value for the whole tensor."""
    return _single(node, zero_at(node, build, place), place)


def _one(build: Builder, value: Value) -> Value:
    if value.rank is None or (value.rank and value.static_shape != (1,) * value.rank):
        raise Refuse(
            f"{value.name} must be one number; it is computed at run time and may differ by row "
            "or column"
        )
    return build.Reshape(value, shape=[1]) if value.rank != 1 else value


def _vector(known: Array, value: Value) -> Array:
    if known.size == 1 or (known.size and (known == known.reshape(-1)[0]).all()):
        return known.reshape(-1)[:1].reshape(())
    if known.ndim != 1:
        raise Refuse(f"{value.name} must differ by one axis at most; it differs by more")
    return known


def _single(node: NodeView, number: Number, place: int) -> Number:
    if isinstance(number, np.ndarray) and number.ndim:
        raise Refuse(f"{node.need(place).name} must be one number; it differs by row or column")
    return number


def along(number: Number, rank: int, axis: int) -> Number:
    """Return a known vector in a shape that broadcasts along an axis."""
    if isinstance(number, Value) or not number.ndim:
        return number
    shape = [1] * rank
    shape[axis] = number.size
    return number.reshape(shape)


def result_kind(node: NodeView, place: int) -> int:
    """Return the element type of the result, which its zero point bears."""
    zero = node.input(place)
    kind = node.need(0).elem_type if zero is None else zero.elem_type
    if kind not in BYTES:
        raise Refuse(f"the result of {node.op} must be of 8 bits; it is not")
    return kind


def rounded(build: Builder, x: Value) -> Value:
    """Round half to even; without Round, which came with opset 11, by Floor and Ceil.

    Beyond 2**23 a result may be the next integer, which is as far outside of 8 bits.
    """
    if build.opset >= 11:
        return build.Round(x)
    # The even one of both halves' neighbours; of what is no tie the number above is the nearest,
    # and the even number is that or the one below. A sum that rounds is at 0.5 - 2**-25 alone,
    # where the even number is right.
    even = build.Mul(build.Floor(build.Mul(build.Add(x, 0.5), 0.5)), 2.0)
    return build.Ceil(build.Max(build.Sub(x, 0.5), even))


def saturated(build: Builder, steps: Value, zero: Number, kind: int) -> Value:
    """Add the zero point to rounded numbers and limit them to the range of 8 bits, as float32.

    The zero point is added even where it is 0: what rounding made -0.0 is the integer 0.
    """
    low, high = (np.float32(bound) for bound in RANGES[kind])
    return build.Clip(build.Add(steps, cast("Any", zero)), min=low, max=high)


def requantized(build: Builder, real: Value, scale: Number, zero: Number, kind: int) -> Value:
    """Divide by the scale, round, add the zero point, limit: still float32."""
    steps = build.Div(real, cast("Any", scale))
    return saturated(build, rounded(build, steps), zero, kind)
