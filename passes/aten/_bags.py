"""Rows that are reduced bag by bag, where it is computed which row is in which bag."""

import numpy as np

from graphfix.authoring import Builder, Value, counted, need_rank, size_of

EMITS = "And Gather Less Not Range Shape Unsqueeze Where"


def members(build: Builder, starts: Value, ends: Value, rows: Value, axis: int = 0) -> Value:
    """Say which row is in which bag: a bool [bags, rows].

    Args:
        build: The builder.
        starts: The first row of each bag, int64.
        ends: The row after the last one.
        rows: Something that has the rows along an axis.
        axis: The axis.
    """
    numbers = counted(rows, axis, build)
    low, high = (build.Unsqueeze(edge, axes=[1]) for edge in (starts, ends))
    return build.And(build.Not(build.Less(numbers, low)), build.Less(numbers, high))


def spread(build: Builder, inside: Value, rows: Value, other: float) -> Value:
    """Return the rows of each bag, [bags, rows, ...], with a number for those of other bags."""
    rank = need_rank(rows)
    mask = build.Unsqueeze(inside, axes=list(range(2, rank + 1))) if rank > 1 else inside
    nothing = build.constant(np.array(other, rows.dtype))
    return build.Where(mask, build.Unsqueeze(rows, axes=[0]), nothing)


def last_end(build: Builder, rows: Value) -> Value:
    """Return the number of rows as a vector of one element."""
    size = size_of(rows, 0, build)
    if isinstance(size, int):
        return build.constant(np.array([size], np.int64))
    return build.Unsqueeze(size, axes=[0])
