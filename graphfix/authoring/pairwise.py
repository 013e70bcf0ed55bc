"""Sums and products of integers by Add and Mul alone: to the last digit, and wrapping around.

ReduceSum, ReduceProd, ReduceSumSquare, ReduceL1 and Pow of onnxruntime go through float64: int64
beyond 2^53 is rounded, and what does not fit saturates (measured in 1.32 against numpy). Add, Mul,
CumSum and MatMul of integers wrap around, as the engines that count in 32 bits do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from graphfix.authoring.building import Builder
from graphfix.ir.views import Array, Value

EMITS = "Add Concat Gather Mul Slice Squeeze Sub"
EMITS_OF_ANY_SIZE = f"{EMITS} Equal Less Range Shape Where"
# Sums of so many integers of 32 bits, signed or not, are below 2^53 in size.
MOST_TERMS = 1 << 21
_HALF = 1 << 16
_LONGEST = 1 << 31


def in_halves(x: Value, add_up: Callable[[Value], Value], build: Builder) -> Value:
    """Sum int64 that hold 32 bits each, by ReduceSum: their upper and their lower 16 bits apart.

    The sums of either are below 2^53 for up to 2^37 integers, so that nothing is rounded.

    Args:
        x: The integers, int64.
        add_up: Sums one tensor.
        build: The builder.
    """
    high = build.Div(x, _HALF)
    low = build.Sub(x, build.Mul(high, _HALF))
    return build.Add(build.Mul(add_up(high), _HALF), add_up(low))


def in_quarters(x: Value, add_up: Callable[[Value], Value], build: Builder) -> Value:
    """Sum int64 by ReduceSum, 16 bits at a time; what does not fit wraps around.

    No number but those of 17 bits is written, so that an engine which holds int64 in 32 bits sums
    what it holds. The sums of each part are below 2^53 for up to 2^37 integers.

    Args:
        x: The integers, int64.
        add_up: Sums one tensor.
        build: The builder.
    """
    parts: list[Value] = []
    for _ in range(3):
        high = build.Div(x, _HALF)
        parts.append(build.Sub(x, build.Mul(high, _HALF)))
        x = high
    total = add_up(x)
    for part in reversed(parts):
        total = build.Add(build.Mul(total, _HALF), add_up(part))
    return total


def combined(op: str, x: Value, axis: int, size: int, build: Builder) -> Value:
    """Sum or multiply along an axis, which goes: one half with the other until one is left.

    Args:
        op: ``Add`` or ``Mul``.
        x: Numbers.
        axis: The axis, not negative.
        size: How many there are along it, at least 1.
        build: The builder.
    """
    while size > 1:
        half = size // 2
        low, high = (build.Slice(x, starts=[at], ends=[at + half], axes=[axis]) for at in (0, half))
        both = build.multi(op, low, high)[0]
        if size % 2:
            last = build.Slice(x, starts=[size - 1], ends=[size], axes=[axis])
            both = build.Concat(both, last, axis=axis)
        x, size = both, half + size % 2
    return build.Squeeze(x, axes=[axis])


def running(
    op: str,
    x: Value,
    axis: int,
    size: int | None,
    build: Builder,
    *,
    reverse: bool,
    exclusive: bool,
) -> Value:
    """Sum or multiply what comes before each place; after each step twice as many numbers are in.

    Args:
        op: ``Add`` or ``Mul``.
        x: Numbers.
        axis: The axis, not negative.
        size: How many there are along it; None where that is known at run time only. Then there are
            as many steps as the longest axis of an engine needs.
        build: The builder.
        reverse: Whether what comes after counts instead.
        exclusive: Whether the number at the place itself does not count.
    """
    if size == 0:
        return x
    neutral = _neutral(op, x, axis, build)
    places = partial(_places, size, reverse) if size else _places_of_any(x, axis, build, reverse)
    total = _moved(x, neutral, axis, places(1), build) if exclusive else x
    step = 1
    while step < (size or _LONGEST):
        moved = _moved(total, neutral, axis, places(step), build)
        total = build.multi(op, total, moved)[0]
        step *= 2
    return total


def _neutral(op: str, x: Value, axis: int, build: Builder) -> Value:
    """Return one slice along the axis of what changes nothing."""
    assert x.dtype is not None
    number = int(op == "Mul")
    if x.rank == 1:  # a constant, so that a shape can be computed
        return build.constant(np.full(1, number, x.dtype))
    first = build.Slice(x, starts=[0], ends=[1], axes=[axis])
    if x.dtype.kind == "f":  # an infinity less itself is no number
        same, filled = build.Equal(first, first), np.full((), number, x.dtype)
        return build.Where(same, filled, filled)
    none = build.Sub(first, first)
    return build.Add(none, np.ones((), x.dtype)) if number else none


def _places(size: int, reverse: bool, step: int) -> Array:
    """Return where each place is read after a move, 0 being the neutral slice in front."""
    places = np.arange(size)
    source = places + step if reverse else places - step
    return np.where((source >= 0) & (source < size), source + 1, 0).astype(np.int64)


def _places_of_any(x: Value, axis: int, build: Builder, reverse: bool) -> Callable[[int], Value]:
    """Return what `_places` gives for each step, computed from the size at run time."""
    sizes = build.Slice(build.Shape(x), starts=[axis], ends=[axis + 1], axes=[0])
    size = build.Squeeze(sizes, axes=[0])
    numbers = build.Range(np.int64(1), build.Add(size, np.int64(1)), np.int64(1))

    def places(step: int) -> Value:
        source = build.Add(numbers, np.int64(step if reverse else -step))
        outside = build.Less(size, source) if reverse else build.Less(source, np.int64(0))
        return build.Where(outside, np.int64(0), source)

    return places


def _moved(x: Value, neutral: Value, axis: int, places: Array | Value, build: Builder) -> Value:
    return build.Gather(build.Concat(neutral, x, axis=axis), places, axis=axis)
