"""Means over axes, and shapes for Reshape, as the normalisations need them."""

from collections.abc import Sequence

from graphfix.authoring import Builder, Refuse, Value, need_rank, need_type
from graphfix.authoring.means import mean as mean

from ._arguments import Call
from ._axes import FLOATS


def floating(x: Value) -> int:
    """Return the rank of `x`.

    Raises:
        Refuse: The rank or the dtype is unknown, or the type is not floating point.
    """
    rank = need_rank(x)
    need_type(x, FLOATS)
    return rank


def normalised_axes(call: Call, rank: int, x: Value) -> list[int]:
    """Return the axes that are normalised.

    Raises:
        Refuse: The normalised shape is computed at run time or does not fit the input.
    """
    shape = call.integers("normalized_shape")
    if not shape or len(shape) > rank:
        raise Refuse("the normalised shape must be that of the last axes of the input")
    axes = list(range(rank - len(shape), rank))
    for axis, size in zip(axes, shape, strict=True):
        if x.dim(axis) not in (None, size):
            raise Refuse("the normalised shape must be that of the last axes of the input")
    return axes


def centred(
    build: Builder, x: Value, axes: Sequence[int], eps: float
) -> tuple[Value, Value, Value]:
    """Return (x - mean) / sqrt(variance + eps), the mean, and 1 / sqrt(variance + eps)."""
    middle = mean(build, x, axes)
    away = build.Sub(x, middle)
    variance = mean(build, build.Mul(away, away), axes)
    deviation = build.Sqrt(build.Add(variance, eps))
    return build.Div(away, deviation), middle, build.Reciprocal(deviation)


def shaped_like(build: Builder, y: Value, x: Value) -> Value:
    """Reshape `y`, whose first dimension is that of `x`, to the shape of `x`.

    The shape is a constant where at most one dimension apart from the first is unknown.
    """
    shape = x.shape
    assert shape is not None  # the callers have looked
    target = [dim if isinstance(dim, int) else -1 for dim in shape]
    if target[0] == -1:
        target[0] = 0  # Reshape copies the dimension
    if target.count(-1) <= 1 and (0 not in target[1:]):
        return build.Reshape(y, target)
    return build.Reshape(y, build.Shape(x))


def scaled(build: Builder, y: Value, weight: Value | None, bias: Value | None) -> Value:
    """Return y * weight + bias; None stands for 1 and 0."""
    if weight is not None:
        y = build.Mul(y, weight)
    return y if bias is None else build.Add(y, bias)


def trailing(build: Builder, value: Value | None, rank: int) -> Value | None:
    """Return a vector over channels as [C, 1, ...], so that it broadcasts over [N, C, ...]."""
    if value is None or rank == 2:
        return value
    shape = (-1,) + (1,) * (rank - 2)
    array = build.const(value)
    if array is not None:
        return build.constant(array.reshape(shape))
    return build.Reshape(value, list(shape))
