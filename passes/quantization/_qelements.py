"""Quantized operators of onnxruntime that are no products, on floating point numbers.

The order in which onnxruntime adds, scales and rounds was read in microsoft/onnxruntime:
onnxruntime/core/mlas/lib/qladd.cpp, qlmul.cpp, qlgavgpool.cpp,
onnxruntime/contrib_ops/cpu/quantization/qlinear_pool.cc, qlinear_softmax.cc,
qlinear_lookup_table.cc, qlinear_concat.cc, qlinear_where.cc.
"""

from __future__ import annotations

from math import prod
from typing import Any, cast

import numpy as np

from graphfix.authoring import APPROXIMATE, Array, Builder, NodeView, Refuse, Value
from graphfix.passes.quantization._parameters import (
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
from graphfix.passes.quantization._products import EXACT

_STEP = "a result may be one step of quantization away where its quotient is next to a half"


def _known(node: NodeView, build: Builder, place: int, *, zero: bool = False) -> Array:
    """Return a scale or a zero point as one constant float32.

    Raises:
        Refuse: It is computed at run time.
    """
    number = (one_zero if zero else one_scale)(node, build, place)
    if isinstance(number, Value):
        raise Refuse(f"{node.need(place).name} must be a constant; it is computed at run time")
    return number


def add(node: NodeView, build: Builder) -> Value:
    """QLinearAdd (a, scale, zero, b, scale, zero, y scale, y zero).

    The zero points are gathered in one number beforehand, and that of the result is in it when
    the sum is rounded. With fused multiplication a processor rounds less often.
    """
    build.declare(APPROXIMATE, _STEP)
    ratios = [_known(node, build, place) / _known(node, build, 6) for place in (1, 4)]
    zeros = [_known(node, build, place, zero=True) for place in (2, 5, 7)]
    fixed = zeros[2] - (ratios[0] * zeros[0] + ratios[1] * zeros[1])
    b = build.Add(build.Mul(whole(build, node.need(3)), ratios[1]), np.float32(fixed))
    total = build.Add(b, build.Mul(whole(build, node.need(0)), ratios[0]))
    return _moved(build, total, result_kind(node, 7))


def mul(node: NodeView, build: Builder) -> Value:
    """QLinearMul (a, scale, zero, b, scale, zero, y scale, y zero)."""
    scale = _known(node, build, 1) * _known(node, build, 4) / _known(node, build, 6)
    a, b = (
        away(build, node.need(place), _known(node, build, place + 2, zero=True)) for place in (0, 3)
    )
    product = build.Mul(build.Mul(a, b), np.float32(scale))
    moved = build.Add(product, _known(node, build, 7, zero=True))
    return _moved(build, moved, result_kind(node, 7))


def _moved(build: Builder, total: Value, kind: int) -> Value:
    """Round what the zero point is in already."""
    return saturated(build, rounded(build, total), np.zeros((), np.float32), kind)


def _real(node: NodeView, build: Builder, place: int) -> Value:
    """Return what the quantized numbers stand for; their scale and zero point follow them."""
    steps = away(build, node.need(place), one_zero(node, build, place + 2))
    return build.Mul(steps, cast("Any", one_scale(node, build, place + 1)))


def unary(node: NodeView, build: Builder) -> Value:
    """QLinearLeakyRelu and QLinearSigmoid (x, scale, zero, y scale, y zero)."""
    real = _real(node, build, 0)
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
    scales = [_known(node, build, at) for at in (place + 1, result[0])]
    zeros = [_known(node, build, at, zero=True) for at in (place + 2, result[1])]
    if scales[0] == scales[1] and zeros[0] == zeros[1]:
        return whole(build, node.need(place))
    real = build.Mul(away(build, node.need(place), zeros[0]), scales[0])
    return requantized(build, real, scales[1], zeros[1], kind)


def average_pool(node: NodeView, build: Builder) -> Value:
    """QLinearAveragePool (x, scale, zero, y scale, y zero): zero points are not in the mean."""
    build.declare(APPROXIMATE, _STEP)
    if node.attr("ceil_mode", 0) and node.attr("count_include_pad", 0):
        raise Refuse(
            "ceil_mode and count_include_pad must not both be set: what is counted behind the "
            "border differs between versions"
        )
    kept = {name: node.attr(name) for name in node.attributes if name != "channels_last"}
    real, turned = _channels_first(node, build, _real(node, build, 0))
    mean = build.AveragePool(real, **kept)
    if turned:
        mean = build.Transpose(mean, perm=turned)
    # The zero point is in the quotient when it is rounded.
    quotient = build.Div(mean, _known(node, build, 3))
    moved = build.Add(quotient, _known(node, build, 4, zero=True))
    return _moved(build, moved, result_kind(node, 4))


def _channels_first(node: NodeView, build: Builder, x: Value) -> tuple[Value, list[int]]:
    if not node.attr("channels_last", 0):
        return x, []
    rank = x.rank
    if rank is None or rank < 3:
        raise Refuse(f"the rank of {x.name} must be known")
    there = [0, rank - 1, *range(1, rank - 1)]
    back = [0, *range(2, rank), 1]
    return build.Transpose(x, perm=there), back


def global_average_pool(node: NodeView, build: Builder) -> Value:
    """QLinearGlobalAveragePool (x, scale, zero, y scale, y zero): a sum, scaled once."""
    x, zero = node.need(0), _known(node, build, 2, zero=True)
    if x.rank is None or x.rank < 3:
        raise Refuse(f"the rank of {x.name} must be known")
    last = bool(node.attr("channels_last", 0))
    axes = list(range(1, x.rank - 1) if last else range(2, x.rank))
    sizes = [size for axis in axes if (size := x.dim(axis)) is not None]
    if len(sizes) < len(axes):
        raise Refuse(f"the sizes of {x.name} must be known")
    if prod(sizes) * largest(x, zero) >= EXACT:
        raise Refuse("float32 must hold the sum over a channel; it is more")
    total = build.ReduceSum(away(build, x, zero), axes=axes, keepdims=1)
    factor = _known(node, build, 1) / (_known(node, build, 3) * np.float32(prod(sizes)))
    steps = rounded(build, build.Mul(total, np.float32(factor)))
    return saturated(build, steps, _known(node, build, 4, zero=True), result_kind(node, 4))


def softmax(node: NodeView, build: Builder) -> Value:
    """QLinearSoftmax (x, scale, y scale, y zero in places 0, 1, 3, 4).

    onnxruntime counts in whole steps, of which 1 has floor(1 / scale).
    """
    build.declare(APPROXIMATE, _STEP)
    x, kind = node.need(0), result_kind(node, 4)
    if x.rank is None or not x.rank:
        raise Refuse(f"the rank of {x.name} must be known")
    new = int(node.attr("opset", 13)) >= 13
    axis = int(node.attr("axis", -1 if new else 1)) % x.rank
    if not new and axis != x.rank - 1:
        raise Refuse("Softmax must be over one axis; it is over several")
    steps = np.floor(np.float32(1) / _known(node, build, 3))
    number = whole(build, x)
    below = build.Sub(number, build.ReduceMax(number, axes=[axis], keepdims=1))
    shares = _softmax(build, build.Mul(below, _known(node, build, 1)), axis, x.rank)
    counted = rounded(build, build.Mul(shares, np.float32(steps)))
    return saturated(build, counted, _known(node, build, 4, zero=True), kind)


def _softmax(build: Builder, x: Value, axis: int, rank: int) -> Value:
    if build.opset >= 13 or axis == rank - 1:
        return build.Softmax(x, axis=axis)
    perm = list(range(rank))
    perm[axis], perm[-1] = perm[-1], perm[axis]
    turned = build.Softmax(build.Transpose(x, perm=perm), axis=rank - 1)
    return build.Transpose(turned, perm=perm)
