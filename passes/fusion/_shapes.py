"""Axes and constants of normalizations, in the shape that the operators take."""

import math

import numpy as np

from graphfix.authoring import Array, Match, Refuse, Value, needed


def last_sizes(match: Match) -> tuple[int, tuple[int, ...]]:
    """Return the axis, from the end, from which on `axes` are all, and the sizes along them.

    Raises:
        Refuse: They are others, or a size is not known.
    """
    x = match["x"]
    axes, rank = match.attribute("axes"), x.rank
    if rank is None or not axes or axes != list(range(rank - len(axes), rank)):
        raise Refuse(f"the means must be over the last axes; they are over {axes}")
    sizes = tuple(size for axis in axes if (size := x.dim(axis)) is not None)
    if len(sizes) < len(axes):
        raise Refuse("the sizes along the axes must be known")
    return axes[0] - rank, sizes


def row_of(value: Value | None, sizes: tuple[int, ...]) -> Array | None:
    """Return a constant in the shape `sizes`; None where it has other dimensions than these."""
    array = value.array() if value is not None else None
    if array is None or array.ndim < len(sizes) or array.size != math.prod(sizes):
        return None
    return array.reshape(sizes) if array.shape[array.ndim - len(sizes) :] == sizes else None


def channels_of(x: Value) -> int:
    """Return the number of channels.

    Raises:
        Refuse: It is not known.
    """
    return needed(x.dim(1), "the number of channels must be known")


def by_channel(match: Match, name: str, x: Value, filled: float = 0) -> Array:
    """Return one value for each channel of `x`, from a constant that is broadcast to it.

    Where the name is not bound all are `filled`.

    Raises:
        Refuse: It is not one constant number for each channel.
    """
    channels = channels_of(x)
    if not match.has(name):
        return np.full(channels, filled, x.dtype)
    array, rank = match.array(name), len(x.shape or ())
    wanted = (channels, *[1] * (rank - 2))
    shape = array.shape if array.ndim < rank else array.shape[array.ndim - rank + 1 :]
    if shape != wanted or array.size != channels:
        shown = list(array.shape)
        raise Refuse(f"the {name} must be one value for each of {channels} channels; it is {shown}")
    return np.ascontiguousarray(array.reshape(channels))
