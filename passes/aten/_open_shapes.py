"""Shapes of which some sizes are known only at run time, and what is made of them."""

from collections.abc import Sequence

import numpy as np

from graphfix.authoring import Builder, Refuse, Value


def reshaped(build: Builder, x: Value, parts: Sequence[tuple[str, int]]) -> Value:
    """Return a value in another shape.

    Args:
        build: The builder.
        x: The value.
        parts: Per axis ``("size", n)``, where -1 is what the others leave, or ``("axis", a)`` for
            the size of an axis of `x`.

    Raises:
        Refuse: The shape has no elements.
    """
    known = [n if kind == "size" else x.dim(n) for kind, n in parts]
    if 0 in known:
        raise Refuse(f"{x.name} must have elements; it has none")
    target = [
        0 if size is None and n == at else -1 if size is None else size
        for at, (size, (_, n)) in enumerate(zip(known, parts, strict=True))
    ]
    if target.count(-1) <= 1:
        return build.Reshape(x, target)
    pieces = [
        [size] if size is not None else build.Slice(sizes, starts=[n], ends=[n + 1], axes=[0])
        for size, (_, n) in zip(known, parts, strict=True)
        for sizes in (build.Shape(x),)
    ]
    return build.Reshape(x, build.Concat(*pieces, axis=0))


def open_diagonal(build: Builder, x: Value, down: int, across: int) -> Value:
    """Return the diagonal of the last two axes, of which a size is open."""
    rank = x.rank or 0
    left, right = (
        build.Sub(build.Slice(build.Shape(x), starts=[at], ends=[at + 1], axes=[0]), [less])
        for at, less in ((rank - 2, down), (rank - 1, across))
    )
    shorter = build.Where(build.Less(left, right), left, right)
    count = build.Where(build.Less(shorter, [0]), [0], shorter)
    rows = build.Slice(x, starts=[down], ends=build.Add(count, [down]), axes=[rank - 2])
    number = build.Squeeze(count, axes=[0])
    places = build.Add(build.Range(np.int64(0), number, np.int64(1)), np.int64(across))
    kept = build.Slice(build.Shape(rows), starts=[0], ends=[rank - 1], axes=[0])
    spread = build.Expand(build.Unsqueeze(places, axes=[1]), build.Concat(kept, [1], axis=0))
    return build.Squeeze(build.GatherElements(rows, spread, axis=rank - 1), axes=[rank - 1])
