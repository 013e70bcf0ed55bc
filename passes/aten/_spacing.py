"""Numbers at even distances between two that are computed."""

import numpy as np

from graphfix.authoring import Builder, Value


def evenly(build: Builder, start: Value, end: Value, steps: int) -> Value:
    """Return numbers from one to another as PyTorch does, each half counted from its own end.

    Args:
        build: The builder.
        start: The first number, without axes.
        end: The last number, of the same type.
        steps: How many there are, 2 or more.
    """
    ahead = np.arange(steps, dtype=start.dtype)
    step = build.Div(build.Sub(end, start), build.constant(np.array(steps - 1, start.dtype)))
    first = build.Add(start, build.Mul(step, build.constant(ahead)))
    second = build.Sub(end, build.Mul(step, build.constant(ahead[::-1].copy())))
    return build.Where(build.constant(np.arange(steps) < steps // 2), first, second)
