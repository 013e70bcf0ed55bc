"""What was an attribute and is computed at run time, written in operators that compute it.

Such an expression is longer than the attribute, so it is used only where folding gives no constant.
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring import (
    Builder,
    ComputedLate,
    NodeView,
    Value,
    late_from_front,
    need_rank,
    reduced_over_computed_axes,
)


def allow(build: Builder, what: str) -> None:
    """Continue only where an expression may stand for `what`.

    Raises:
        ComputedLate: A constant is asked for.
    """
    if not build.at_run_time:
        raise ComputedLate(f"{what} must be a constant; it is computed at run time")


def size_along(x: Value, axis: int, build: Builder) -> Value:
    """Return the size of one axis: int64 [1]."""
    return build.Gather(build.Shape(x), build.constant(np.array([axis], dtype=np.int64)), axis=0)


def reduce(node: NodeView, build: Builder) -> Value:
    """Reduce over axes that are computed.

    Raises:
        Refuse: A constant is asked for, the rank is unknown, or integers are not reduced like this.
    """
    allow(build, "axes")
    return reduced_over_computed_axes(node, build)


def pads(x: Value, given: Value, axes: Value, build: Builder) -> Value:
    """Write pads of some axes as pads of every axis, 0 for the others: int64 [2 * rank].

    Raises:
        Refuse: A constant is asked for, or the rank is unknown.
    """
    allow(build, "pads" if build.const(axes) is not None else "axes")
    rank = need_rank(x)
    counted = late_from_front(axes, rank, build)
    both = build.Concat(counted, build.Add(counted, rank), axis=0)
    zeros = build.constant(np.zeros(2 * rank, dtype=np.int64))
    return build.ScatterElements(zeros, both, given, axis=0)


def equal_parts(x: Value, axis: int, count: int, build: Builder) -> Value:
    """Work out the sizes of `count` parts, of which the last may be smaller: int64 [count].

    Raises:
        Refuse: A constant is asked for.
    """
    allow(build, "the size of the axis that num_outputs divides")
    size = size_along(x, axis, build)
    part = build.Div(build.Add(size, count - 1), count)
    last = build.Sub(size, build.Mul(part, count - 1))
    return build.Concat(*[part] * (count - 1), last, axis=0)
