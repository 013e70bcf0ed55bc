"""Turning pairs of numbers by angles: rotary embeddings."""

import numpy as np

from graphfix.authoring import Builder, Value


def turned(
    build: Builder,
    data: Value,
    angles: tuple[Value, Value],
    sizes: tuple[int, int],
    *,
    interleaved: bool,
) -> Value:
    """Return the pairs of each head, turned.

    Args:
        build: The builder.
        data: Numbers of rank 4, the last axis a head.
        angles: Cosines and sines, broadcastable to half of what is turned.
        sizes: How much of a head is turned, and its size.
        interleaved: Whether the pairs are neighbours; else they are the two halves.
    """
    some, head = sizes
    rest: Value | None = None
    if some < head:
        data, rest = build.multi("Split", data, outputs=2, axis=3, split=[some, head - some])
    half = some // 2
    cos, sin = angles
    if interleaved:
        pairs = build.Reshape(data, np.array([0, 0, 0, half, 2]))
        a, b = build.multi("Split", pairs, outputs=2, axis=4, split=[1, 1])
        wide = [build.Unsqueeze(value, axes=[4]) for value in (cos, sin)]
        joined = build.Concat(*pair(build, a, b, *wide), axis=4)
        result = build.Reshape(joined, np.array([0, 0, 0, some]))
    else:
        a, b = build.multi("Split", data, outputs=2, axis=3, split=[half, half])
        result = build.Concat(*pair(build, a, b, cos, sin), axis=3)
    return result if rest is None else build.Concat(result, rest, axis=3)


def pair(build: Builder, a: Value, b: Value, cos: Value, sin: Value) -> tuple[Value, Value]:
    """Return a cos - b sin and b cos + a sin."""
    return (
        build.Sub(build.Mul(a, cos), build.Mul(b, sin)),
        build.Add(build.Mul(b, cos), build.Mul(a, sin)),
    )
