"""Products of quantized numbers, summed without rounding.

onnxruntime sums 8 bit products and the int32 bias in int32, turns the sum into float32 once, and
multiplies it by (scale of a * scale of b) / scale of the result: microsoft/onnxruntime,
onnxruntime/core/providers/cpu/quantization/qlinearconv.cc and quantize_linear_matmul.cc,
onnxruntime/contrib_ops/cpu/quantization/quant_gemm.cc.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod

import numpy as np
from msgspec import Struct
from onnx import TensorProto

from graphfix.authoring import Array, Builder, Refuse, Value, need_rank

from ._parameters import Number, along, away, largest

# float32 holds every integer up to this size, so no sum below it is rounded, in whatever order.
EXACT = 1 << 24
_INT32 = 1 << 31
_HALF = 16  # a byte is this many times its upper half, and its lower one
ROUNDED = (
    "sums of more than 2^24 are rounded to 24 bits, to one part in 2^24 of the products' sizes"
)


class Operand(Struct, frozen=True):
    """Numbers less their zero point.

    Attributes:
        value: As float32.
        known: As int64, where they are constant.
        largest: What one is at most, in size.
    """

    value: Value
    known: Array | None
    largest: int


def operand(build: Builder, x: Value, zero: Number, axis: int = 0) -> Operand:
    """Read an operand whose zero points go along `axis`."""
    if isinstance(zero, np.ndarray) and zero.ndim:
        rank = need_rank(x)
        zero = along(zero, rank, axis)
    known = build.const(x)
    bound = largest(x, zero)
    if known is None or isinstance(zero, Value):
        return Operand(away(build, x, zero), None, bound)
    whole = known.astype(np.int64) - zero.astype(np.int64)
    return Operand(build.constant(whole.astype(np.float32)), whole, bound)


def pieces(
    weights: Operand, other: int, axes: Sequence[int], axis: int, sizes: Sequence[int | None]
) -> list[int]:
    """Return where to cut what is summed over, so that float32 holds every sum of a piece.

    Args:
        weights: The operand that may be constant.
        other: What a number of the other operand is at most.
        axes: The axes of the weights that are summed over.
        axis: The one of them that can be cut.
        sizes: The sizes of `axes`, which are needed where the weights are not constant.

    Raises:
        Refuse: A sum over one place of the axis is already too much, or all are for int32.
    """
    if weights.known is None:
        known = [size for size in sizes if size is not None]
        if len(known) < len(sizes):
            raise Refuse("the number of products in a sum must be known")
        count = known[list(axes).index(axis)]
        each = prod(known) // max(count, 1) * max(weights.largest * other, 1)
        if count * each >= _INT32:
            raise Refuse("the sums must fit int32; they may exceed it")
        if each >= EXACT:
            raise Refuse("float32 must hold the sum over a single channel; it does not")
        return [*range(0, count, (EXACT - 1) // each), count] if count else [0, 0]
    size = weights.known.shape[axis]
    inner = tuple(place for place in axes if place != axis)
    sums = np.abs(weights.known).sum(axis=inner, keepdims=True) * other
    sums = np.moveaxis(sums, axis, 0).reshape(size, -1)
    if sums.size and int(sums.sum(axis=0).max()) >= _INT32:
        raise Refuse("the sums must fit int32; they may exceed it")
    if sums.size and int(sums.max()) >= EXACT:
        raise Refuse("float32 must hold the sum over a single channel; it does not")
    cuts, total = [0], np.zeros(sums.shape[1:], np.int64)
    for place in range(size):
        total = total + sums[place]
        if total.size and int(total.max()) >= EXACT:
            cuts.append(place)
            total = sums[place]
    return [*cuts, size]


def summed(
    build: Builder,
    cuts: Sequence[int],
    piece: Callable[[int, int], Value],
    bias: Value | Array | None,
) -> Value:
    """Add up pieces and a bias as int32, and return the sum as float32, rounded once at most."""
    sums = [piece(start, stop) for start, stop in pairwise(cuts)]
    if len(sums) == 1 and bias is None:
        return sums[0]
    total = build.Cast(sums[0], to=TensorProto.INT32)
    for further in sums[1:]:
        total = build.Add(total, build.Cast(further, to=TensorProto.INT32))
    if bias is not None:
        total = build.Add(total, bias)
    return build.Cast(total, to=TensorProto.FLOAT)


def summed_to_int32(
    build: Builder, cuts: Sequence[int], piece: Callable[[int, int], Value]
) -> Value:
    """Add up pieces as int32."""
    sums = [build.Cast(piece(*ends), to=TensorProto.INT32) for ends in pairwise(cuts)]
    total = sums[0]
    for further in sums[1:]:
        total = build.Add(total, further)
    return total


def exact_in_halves(largest: int) -> int:
    """Return how many products float32 sums exactly where one operand is split in halves.

    Args:
        largest: What a number of the other operand is at most.
    """
    return (EXACT - 1) // (largest * _HALF)


def product_of_halves(build: Builder, left: Value, right: Value) -> Value:
    """Multiply integers as int32, the second operand in its lower four bits and the rest."""
    high = build.Floor(build.Mul(right, 1 / _HALF))
    low = build.Sub(right, build.Mul(high, float(_HALF)))
    sums = [build.Cast(build.MatMul(left, part), to=TensorProto.INT32) for part in (high, low)]
    return build.Add(build.Mul(sums[0], _HALF), sums[1])


def cut(build: Builder, x: Operand, axis: int, start: int, stop: int, size: int | None) -> Value:
    """Return a piece of an operand."""
    if start == 0 and stop == size:
        return x.value
    if x.known is not None:
        part = x.known.take(range(start, stop), axis=axis)
        return build.constant(part.astype(np.float32))
    return build.Slice(x.value, starts=[start], ends=[stop], axes=[axis])
