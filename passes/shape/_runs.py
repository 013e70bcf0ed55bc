"""Neighbouring axes of one kind as one axis."""

from collections.abc import Hashable, Sequence
from itertools import groupby
from math import prod


def runs_of(kinds: Sequence[Hashable], sizes: Sequence[int]) -> list[tuple[Hashable, int]]:
    """Return the kind of each run of neighbours that are of one kind, and its size.

    Args:
        kinds: The kind of each axis.
        sizes: The size of each axis; those of size 1 go with any neighbour.
    """
    several = [(kind, size) for kind, size in zip(kinds, sizes, strict=True) if size != 1]
    return [
        (kind, prod(size for _, size in run))
        for kind, run in groupby(several, key=lambda one: one[0])
    ]
