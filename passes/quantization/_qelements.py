"""Quantized operators of onnxruntime that are no products, on floating point numbers.

The order in which onnxruntime adds, scales and rounds was read in microsoft/onnxruntime:
onnxruntime/core/mlas/lib/qladd.cpp, qlmul.cpp, qlgavgpool.cpp,
onnxruntime/contrib_ops/cpu/quantization/qlinear_lookup_table.cc, qlinear_concat.cc,
qlinear_where.cc.
"""

import itertools
from functools import lru_cache
from typing import Any, cast

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    APPROXIMATE,
    Array,
    Builder,
    NodeView,
    Refuse,
    Size,
    Value,
    need_rank,
    size_of,
    times,
)

from ._beyond import PAST, least_past_int32, like, reach
from ._parameters import (
    away,
    largest,
    one_scale,
    one_zero,
    requantized,
    result_kind,
    rounded,
    saturated,
    whole,
)
from ._products import EXACT
from ._reading import RANGES

STEP = "a result may be one step of quantization away where its quotient is next to a half"


def known(node: NodeView, build: Builder, place: int, *, zero: bool = False) -> Array:
    """Return a scale or a zero point as one constant float32.

    Raises:
        Refuse: It is computed at run time.
    """
    return _constant(node, place, (one_zero if zero else one_scale)(node, build, place))


def any_scale(node: NodeView, build: Builder, place: int) -> Array:
    """Return a scale as one constant float32, which may be infinite."""
    return _constant(node, place, one_scale(node, build, place, infinite=True))


def _constant(node: NodeView, place: int, number: Array | Value) -> Array:
    if isinstance(number, Value):
        raise Refuse(f"{node.need(place).name} must be a constant; it is computed at run time")
    return number


def add(node: NodeView, build: Builder) -> Value:
    """QLinearAdd (a, scale, zero, b, scale, zero, y scale, y zero).

    The zero points are gathered in one number beforehand, and that of the result is in it when
    the sum is rounded. With fused multiplication a processor rounds less often: exact where that
    changes nothing for any of the pairs that there can be.
    """
    with np.errstate(all="ignore"):
        of_result = any_scale(node, build, 6)
        ratios = [any_scale(node, build, place) / of_result for place in (1, 4)]
        zeros = [known(node, build, place, zero=True) for place in (2, 5, 7)]
        fixed = zeros[2] - (ratios[0] * zeros[0] + ratios[1] * zeros[1])
    numbers = [whole(build, node.need(place)) for place in (0, 3)]
    kind = result_kind(node, 7)
    least = RANGES[kind][0]
    if not np.isfinite(ratios).all() or not np.isfinite(fixed):
        return like(build, build.Add(*numbers), least)
    largest_sum = 255 * float(sum(ratios)) + abs(float(fixed))
    kinds = (*(node.need(place).elem_type for place in (0, 3)), kind)
    if not _same_however_fused(kinds, tuple(map(float, ratios)), tuple(map(float, zeros))):
        if not largest_sum < PAST:
            raise Refuse("rounding must not decide whether int32 holds a sum; it does")
        build.declare(APPROXIMATE, STEP)
    b = build.Add(build.Mul(numbers[1], ratios[1]), np.float32(fixed))
    total = build.Add(b, build.Mul(numbers[0], ratios[0]))
    return moved_and_rounded(build, least_past_int32(build, total, least, largest_sum), kind)


@lru_cache(maxsize=1024)
@np.errstate(over="ignore", invalid="ignore")
def _same_however_fused(
    kinds: tuple[int, ...], ratios: tuple[float, ...], none: tuple[float, ...]
) -> bool:
    """Say whether all pairs give the same step, whichever products are fused with their sums.

    Args:
        kinds: The element types of both operands and of the result.
        ratios: The scales of the operands by that of the result, float32.
        none: The three zero points.
    """
    a, b = (
        np.arange(low, high + 1, dtype=np.float64) for low, high in (RANGES[k] for k in kinds[:2])
    )
    low, high = RANGES[kinds[2]]
    first, second = ratios
    found: Array | None = None
    # What is fused is rounded once: float64 holds a product of 24 and 8 bits.
    for fixing, of_a, of_b in itertools.product(_FUSED, _EITHER, _EITHER):
        moved = _as(first * none[0], fixing[0]) + _as(second * none[1], fixing[1])
        fixed = _as(none[2] - _as(moved, "float32"), "float32")
        start = _as(_as(second * b, of_b) + fixed, "float32")
        total = _as(start[None, :] + _as(first * a, of_a)[:, None], "float32")
        # NaN is not below 2^31 either.
        steps = np.where(total < PAST, np.clip(np.rint(total), low, high), low)
        if found is not None and not np.array_equal(found, steps):
            return False
        found = steps
    return True


_EITHER = ("float32", "float64")
_FUSED = (("float32", "float32"), ("float64", "float32"), ("float32", "float64"))


def _as(number: Any, kind: str) -> Array:
    """Round to a type, and continue in float64."""
    return np.asarray(number).astype(kind).astype(np.float64)


def mul(node: NodeView, build: Builder) -> Value:
    """QLinearMul (a, scale, zero, b, scale, zero, y scale, y zero)."""
    with np.errstate(all="ignore"):
        scale = any_scale(node, build, 1) * any_scale(node, build, 4) / any_scale(node, build, 6)
    zeros = [known(node, build, place, zero=True) for place in (2, 5)]
    a, b = (away(build, node.need(place), zero) for place, zero in zip((0, 3), zeros, strict=True))
    kind = result_kind(node, 7)
    least = RANGES[kind][0]
    if not np.isfinite(scale):
        return like(build, build.Mul(a, b), least)
    of_a, of_b = (
        reach(node, build, place, zero) for place, zero in zip((0, 3), zeros, strict=True)
    )
    largest_product = max(x * y for x in of_a for y in of_b) * float(scale)
    product = build.Mul(build.Mul(a, b), np.float32(scale))
    moved = build.Add(product, known(node, build, 7, zero=True))
    return moved_and_rounded(build, least_past_int32(build, moved, least, largest_product), kind)


def moved_and_rounded(build: Builder, total: Value, kind: int) -> Value:
    """Round what the zero point is in already."""
    return saturated(build, rounded(build, total), np.zeros((), np.float32), kind)


def real_of(node: NodeView, build: Builder, place: int) -> Value:
    """Return what the quantized numbers stand for; their scale and zero point follow them."""
    steps = away(build, node.need(place), one_zero(node, build, place + 2))
    return build.Mul(steps, cast("Any", one_scale(node, build, place + 1)))


def unary(node: NodeView, build: Builder) -> Value:
    """QLinearLeakyRelu and QLinearSigmoid (x, scale, zero, y scale, y zero)."""
    real = real_of(node, build, 0)
    if node.op == "QLinearSigmoid":
        result = build.Sigmoid(real)
    else:
        result = build.LeakyRelu(real, alpha=float(node.attr("alpha", 0.01)))
    scale, zero = one_scale(node, build, 3), one_zero(node, build, 4)
    return requantized(build, result, scale, zero, result_kind(node, 4))


def concat(node: NodeView, build: Builder) -> Value:
    """QLinearConcat (y scale, y zero, then x, scale, zero of each operand)."""
    kind = result_kind(node, 1)
    parts = [_like(node, build, place, (0, 1), kind) for place in range(2, len(node.inputs), 3)]
    return build.Concat(*parts, axis=int(node.attr("axis")))


def where(node: NodeView, build: Builder) -> Value:
    """QLinearWhere (condition, x, scale, zero, y, scale, zero, z scale, z zero)."""
    kind = result_kind(node, 8)
    parts = [_like(node, build, place, (7, 8), kind) for place in (1, 4)]
    return build.Where(node.need(0), *parts)


def _like(node: NodeView, build: Builder, place: int, result: tuple[int, int], kind: int) -> Value:
    """Return an operand in the scale and zero point of the result; as it is where it has them."""
    if node.need(place).elem_type != kind:
        raise Refuse(f"{node.need(place).name} must be of the dtype of the result")
    scales = [any_scale(node, build, at) for at in (place + 1, result[0])]
    zeros = [known(node, build, at, zero=True) for at in (place + 2, result[1])]
    if scales[0] == scales[1] and zeros[0] == zeros[1]:
        return whole(build, node.need(place))
    known(node, build, place + 1)  # times infinity, what is at the zero point is NaN
    real = build.Mul(away(build, node.need(place), zeros[0]), scales[0])
    return requantized(build, real, scales[1], zeros[1], kind)


def global_average_pool(node: NodeView, build: Builder) -> Value:
    """QLinearGlobalAveragePool (x, scale, zero, y scale, y zero): a sum, scaled once.

    The sum is that of int32 where float32 might not hold it, or the sizes are not known.
    """
    x, zero = node.need(0), known(node, build, 2, zero=True)
    rank = need_rank(x, 3)
    last = bool(node.attr("channels_last", 0))
    axes = list(range(1, rank - 1) if last else range(2, rank))
    count: Size = 1
    for axis in axes:
        count = times(size_of(x, axis, build), count, build)
    number = away(build, x, zero)
    scales = known(node, build, 1), known(node, build, 3)
    factor: Value | Array
    if isinstance(count, int) and count * largest(x, zero) < EXACT:
        total = build.ReduceSum(number, axes=axes, keepdims=1)
    else:
        total = build.ReduceSum(build.Cast(number, to=TensorProto.INT32), axes=axes, keepdims=1)
        total = build.Cast(total, to=TensorProto.FLOAT)
    if isinstance(count, int):
        factor = np.asarray(scales[0] / (scales[1] * np.float32(count)), np.float32)
    else:
        real = build.Mul(build.Cast(count, to=TensorProto.FLOAT), scales[1])
        factor = build.Div(build.constant(scales[0]), real)
    steps = rounded(build, build.Mul(total, factor))
    return saturated(build, steps, known(node, build, 4, zero=True), result_kind(node, 4))
