"""QLinearConv, QLinearMatMul and QGemm on floating point numbers that hold the same integers."""

from typing import Any, cast

import numpy as np
from onnx import TensorProto

from graphfix.authoring import APPROXIMATE, Array, Builder, NodeView, Refuse, Value, need_rank

from ._parameters import (
    Number,
    along,
    one_scale,
    one_zero,
    over,
    result_kind,
    rounded,
    saturated,
    scale_at,
    times,
    zero_at,
)
from ._products import (
    EXACT,
    Operand,
    cut,
    exact_in_halves,
    operand,
    pieces,
    product_of_halves,
    summed,
)

# That of float16 came with opset 21; what it holds float32 holds.
_SCALES = (TensorProto.FLOAT, TensorProto.FLOAT16)


def conv(node: NodeView, build: Builder) -> Value:
    """QLinearConv (x, scale, zero, w, scale, zero, y scale, y zero, bias).

    That of com.microsoft may have the channels of input and result last.
    """
    x = operand(build, node.need(0), one_zero(node, build, 2))
    w = operand(build, node.need(3), zero_at(node, build, 5), axis=0)
    rank = need_rank(node.need(3), 3)
    last = bool(node.attr("channels_last", 0))
    if last:
        there = [0, rank - 1, *range(1, rank - 1)]
        x = Operand(build.Transpose(x.value, perm=there), None, x.largest)
    axes = tuple(range(1, rank))
    cuts = pieces(w, x.largest, axes, 1, [node.need(3).dim(axis) for axis in axes])
    if len(cuts) > 2 and int(node.attr("group", 1)) != 1:
        raise Refuse("float32 must hold the sums over a group; it does not")
    bias = None if node.input(8) is None else node.need(8)
    known = build.const(bias)
    names = (name for name in node.attributes if name != "channels_last")
    attributes: dict[str, Any] = {name: node.attr(name) for name in names}
    fused: Array | None = None
    if len(cuts) == 2 and known is not None and _room(w, x.largest, axes, known):
        fused, bias = known.astype(np.float32), None
    size = node.need(3).dim(1)

    def piece(start: int, stop: int) -> Value:
        part = (cut(build, operand_, 1, start, stop, size) for operand_ in (x, w))
        return build.Conv(*part, fused, **attributes)

    added: Value | Array | None = None
    if bias is not None:
        wide = [1, -1, *[1] * (rank - 2)]
        added = known.reshape(wide) if known is not None else build.Reshape(bias, shape=wide)
    total = summed(build, cuts, piece, added)
    factor = along(_factor(node, build, (1, 4, 6)), rank, 1)
    result = _requantized(node, build, total, factor, 7)
    return build.Transpose(result, perm=[0, *range(2, rank), 1]) if last else result


def matmul(node: NodeView, build: Builder) -> Value:
    """QLinearMatMul (a, scale, zero, b, scale, zero, y scale, y zero)."""
    a, b = node.need(0), node.need(3)
    if not a.rank or not b.rank or b.rank < 2:
        raise Refuse("the ranks of the operands must be known, and that of the second at least 2")
    total = multiplied(
        build,
        operand(build, a, one_zero(node, build, 2)),
        operand(build, b, zero_at(node, build, 5), axis=-1),
        a.dim(-1) if a.dim(-1) is not None else b.dim(-2),
        None,
    )
    if b.rank > 2 and not all(_is_one(build.const(node.need(place))) for place in (4, 5)):
        raise Refuse("a stack of matrices must have one scale; it has several")
    return _requantized(node, build, total, _factor(node, build, (1, 4, 6)), 7)


def gemm(node: NodeView, build: Builder) -> Value:
    """QGemm (a, scale, zero, b, scale, zero, c, y scale, y zero); float32 without a y scale."""
    a, b, bias = node.need(0), node.need(3), node.input(6)
    if bias is not None and bias.type_name not in ("", "int32"):
        raise Refuse(f"the bias must be int32; {bias.name} is {bias.type_name}")
    left = operand(build, a, one_zero(node, build, 2))
    right = operand(build, b, zero_at(node, build, 5), axis=0 if node.attr("transB", 0) else 1)
    if a.rank != 2 or b.rank != 2:
        raise Refuse(f"the operands must be matrices; they are of rank {a.rank} and {b.rank}")
    turned = [bool(node.attr("transA", 0)), bool(node.attr("transB", 0))]
    size = a.dim(0 if turned[0] else 1)
    size = size if size is not None else b.dim(1 if turned[1] else 0)
    left, right = (
        _turned(build, x) if t else x for x, t in zip((left, right), turned, strict=True)
    )
    total = multiplied(build, left, right, size, bias)
    scales: Number = np.asarray(np.float32(node.attr("alpha", 1.0)))
    scales = times(build, times(build, scales, one_scale(node, build, 1)), scale_at(node, build, 4))
    if node.input(7) is None:
        return build.Mul(total, cast("Any", scales))
    return _requantized(node, build, total, over(build, scales, one_scale(node, build, 7)), 8)


def _turned(build: Builder, x: Operand) -> Operand:
    if x.known is not None:
        known = x.known.T
        return Operand(build.constant(known.astype(np.float32)), known, x.largest)
    return Operand(build.Transpose(x.value, perm=[1, 0]), None, x.largest)


def multiplied(
    build: Builder, a: Operand, b: Operand, size: int | None, bias: Value | None
) -> Value:
    """Return a product and an int32 bias as float32, summed without rounding.

    Where it is not known how many products a sum has, and they are not bounded by constants, one
    operand is split in halves: that is exact for as many as any network sums here, and declared to
    be approximate for more.

    Args:
        build: The builder.
        a: The first operand.
        b: The second operand.
        size: How many products a sum has, where it is known.
        bias: What is added, or None.

    Raises:
        Refuse: Float32 would not hold a sum.
    """
    if size is None and a.known is None and b.known is None:
        most = exact_in_halves(max(a.largest, 1))
        build.declare(APPROXIMATE, f"sums of more than {most:,} products are rounded to 24 bits")
        total = product_of_halves(build, a.value, b.value)
        return build.Cast(total if bias is None else build.Add(total, bias), to=TensorProto.FLOAT)
    if a.known is not None and b.known is None:
        cuts = pieces(a, b.largest, (a.known.ndim - 1,), a.known.ndim - 1, [size])
    else:
        place = b.known.ndim - 2 if b.known is not None else 0
        cuts = pieces(b, a.largest, (place,), place, [size])

    def piece(start: int, stop: int) -> Value:
        left = cut(build, a, -1, start, stop, size)
        return build.MatMul(left, cut(build, b, -2, start, stop, size))

    return summed(build, cuts, piece, bias)


def _is_one(known: Array | None) -> bool:
    return known is None or known.size == 1


def _room(w: Operand, other: int, axes: tuple[int, ...], bias: Array) -> bool:
    """Say whether float32 holds the sums and the bias together."""
    if w.known is None:
        return False
    most = np.abs(w.known).sum(axis=axes) * other + np.abs(bias.astype(np.int64))
    return not most.size or int(most.max()) < EXACT


def _factor(node: NodeView, build: Builder, places: tuple[int, int, int]) -> Number:
    x, w, y = places
    first, second = one_scale(node, build, x, _SCALES), scale_at(node, build, w, _SCALES)
    return over(build, times(build, first, second), one_scale(node, build, y, _SCALES))


def _requantized(node: NodeView, build: Builder, total: Value, factor: Number, place: int) -> Value:
    kind = result_kind(node, place)
    steps = rounded(build, build.Mul(total, cast("Any", factor)))
    return saturated(build, steps, one_zero(node, build, place), kind)
