"""Shapes of which some sizes are known only at run time, for Reshape and Expand."""

from __future__ import annotations

from collections.abc import Sequence

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
