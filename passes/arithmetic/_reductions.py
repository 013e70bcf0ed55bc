"""The axes of a reduction, and whole roots and logarithms of sums."""

import math
from collections.abc import Sequence
from decimal import Decimal, getcontext

import numpy as np
from msgspec import Struct
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, axes_of

ROOT_EMITS = "Add Cast Div Floor Greater Less Mul Not ReduceSum Sqrt Sub Where"
LOG_EMITS = "And Cast Div Equal Greater Less Log Mul Not Or ReduceSum Sub Unsqueeze Where"
_MOST = 2**31 - 1
_LIMB = 1 << 16
# The largest power of e that int64 holds is e^43.
_POWERS = 43
_PLACES = 60


class Reduced(Struct, frozen=True):
    """Which axes a node reduces, and whether they stay as 1.

    Attributes:
        axes: The axes; None stands for all.
        keepdims: 1 where they stay.
    """

    axes: Sequence[int] | None
    keepdims: int

    def sum(self, x: Value, build: Builder) -> Value:
        """Sum over the axes."""
        return self.by("ReduceSum", x, build)

    def by(self, op: str, x: Value, build: Builder) -> Value:
        """Reduce over the axes by an operator."""
        axes = {} if self.axes is None else {"axes": list(self.axes)}
        return build.node(op, x, **axes, keepdims=self.keepdims)


def reduced(node: NodeView, build: Builder) -> Reduced:
    """Return what a reduction reduces.

    Raises:
        Refuse: The axes are computed, or there are none and that is to mean nothing.
    """
    given = axes_of(node.input(1), "the list of axes", build)
    axes = [int(axis) for axis in node.attr("axes") or ()] if given is None else given
    if not axes and node.attr("noop_with_empty_axes", 0):
        raise Refuse("there must be axes; without them nothing is reduced")
    return Reduced(axes or None, int(node.attr("keepdims", 1)))


def sum_of_squares(x: Value, how: Reduced, build: Builder) -> tuple[Value, Value]:
    """Sum the squares of int64 that int32 holds, to the last digit.

    onnxruntime adds int64 through float64, which gets their upper and their lower 32 bits apart.

    Returns:
        The sum, int64, which wraps around, and how often 2^32 is in it.
    """
    squares = build.Mul(x, x)
    high = _shifted(squares, build)
    low = build.Sub(squares, _shifted_back(high, build))
    above, below = how.sum(high, build), how.sum(low, build)
    total = build.Add(_shifted_back(above, build), below)
    return total, build.Add(above, _shifted(below, build))


def _shifted(x: Value, build: Builder) -> Value:
    """Drop 32 bits; no constant is beyond int32."""
    return build.Div(build.Div(x, np.int64(_LIMB)), np.int64(_LIMB))


def _shifted_back(x: Value, build: Builder) -> Value:
    return build.Mul(build.Mul(x, np.int64(_LIMB)), np.int64(_LIMB))


def at_most_int32(root: Value, above: Value, build: Builder) -> Value:
    """Return the root cut off at the largest int32, where the sum has 2^32 `above` times."""
    most = build.constant(np.array(_MOST, np.int64))
    cut = build.Where(build.Greater(root, most), most, root)
    return build.Where(build.Greater(above, most), most, cut)


def whole_root(total: Value, build: Builder) -> Value:
    """Return the root of int64 from 0 on, rounded down.

    A root in float32 is off by a part in 2^23 of itself, one step of Newton leaves at most 1, and
    comparing with a quotient, which cannot overflow, settles that.
    """
    guess = build.Sqrt(build.Cast(total, to=TensorProto.FLOAT))
    first = _from_one(build.Cast(build.Floor(guess), to=TensorProto.INT64), build)
    root = build.Div(build.Add(first, build.Div(total, first)), np.int64(2))
    root = build.Sub(
        root, _one_if(build.Greater(root, build.Div(total, _from_one(root, build))), build)
    )
    following = build.Add(root, np.int64(1))
    too_far = build.Greater(following, build.Div(total, following))
    return build.Add(root, _one_if(build.Not(too_far), build))


def _one_if(condition: Value, build: Builder) -> Value:
    return build.Cast(condition, to=TensorProto.INT64)


def _from_one(x: Value, build: Builder) -> Value:
    return build.Where(build.Less(x, np.int64(1)), build.constant(np.array(1, np.int64)), x)


def whole_logarithm(total: Value, kind: int, build: Builder) -> Value:
    """Return the natural logarithm of int64, rounded down; below 1 what a Cast makes of no number.

    Counts the powers of e that are reached. Numbers and powers are compared by pieces of 16 bits,
    so that every constant is an int32.

    Args:
        total: The sums.
        kind: The element type of the result.
        build: The builder.
    """
    parts: list[Value] = []
    rest = total
    for _ in range(2):
        above = build.Div(rest, np.int64(_LIMB))
        parts.append(build.Sub(rest, build.Mul(above, np.int64(_LIMB))))
        rest = above
    parts.append(rest)
    assert total.rank is not None
    spread = [build.Unsqueeze(part, axes=[total.rank]) for part in parts]
    reached: Value | None = None
    for part, limits in zip(spread, _powers(), strict=True):
        above = build.Greater(part, limits)
        same = build.Equal(part, limits)
        reached = build.Or(above, same if reached is None else build.And(same, reached))
    count = build.ReduceSum(
        build.Cast(reached, to=TensorProto.INT64), axes=[total.rank], keepdims=0
    )
    undefined = build.Cast(
        build.Log(build.Where(build.Less(total, np.int64(0)), np.float32(-1), np.float32(0))),
        to=kind,
    )
    whole = count if kind == TensorProto.INT64 else build.Cast(count, to=kind)
    return build.Where(build.Less(total, np.int64(1)), undefined, whole)


def _powers() -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Return the least integers not below the powers of e, as pieces of 16 bits, lowest first."""
    getcontext().prec = _PLACES
    limits = [math.ceil(Decimal(power).exp()) for power in range(1, _POWERS + 1)]
    rows = [[limit % _LIMB, limit // _LIMB % _LIMB, limit // _LIMB // _LIMB] for limit in limits]
    return [np.array(column, np.int64) for column in zip(*rows, strict=True)]
