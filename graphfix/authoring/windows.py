"""The windows of pools and convolutions, cut out of a tensor point by point."""

from __future__ import annotations

from collections.abc import Sequence

from graphfix.authoring.building import Builder
from graphfix.ir.views import Value


def every_nth(
    x: Value,
    starts: Sequence[int],
    counts: Sequence[int],
    steps: Sequence[int],
    build: Builder,
    *,
    first: int = 2,
) -> Value:
    """Return what all windows have at one of their points.

    Args:
        x: The tensor, padded.
        starts: Where the point is in the first window, for each axis.
        counts: How many windows there are along each axis.
        steps: How far a window is from the one before it.
        build: The builder.
        first: The first of the axes; the others follow it.
    """
    ends = [a + (n - 1) * s + 1 for a, n, s in zip(starts, counts, steps, strict=True)]
    axes = list(range(first, first + len(ends)))
    return build.Slice(x, starts=list(starts), ends=ends, axes=axes, steps=list(steps))
