"""Which branches lead to each leaf of a forest of small trees."""

import numpy as np
from msgspec import Struct

from graphfix.authoring import Array

from ._forest import Forest

_BLOCK = 32  # branches; products of smaller matrices take as long
_WHOLE = 1 << 13  # sides of a forest that is one block
_SIDES = 48  # for each leaf; more would make the file more than three times as large
_ROOM = 1 << 14  # leaves of all trees, which are so many numbers for each row


class Paths(Struct):
    """Trees in blocks of one size, filled up where they are smaller.

    Attributes:
        branches: The branches of each block, by their place in the forest: [blocks, branches].
        sides: 1 where a branch has to be passed on the way to a leaf, -1 where it must not be,
            else 0: [blocks, branches, leaves].
        short: 1 less the number of branches that are passed on the way to a leaf, which makes it
            1 where a row comes to it and at most 0 elsewhere: [blocks, leaves].
        block: The block of each leaf of the forest.
        rank: Its place there.
    """

    branches: Array
    sides: Array
    short: Array
    block: Array
    rank: Array


def paths_of(forest: Forest, targets: int) -> Paths | None:
    """Return the paths of trees that are small enough to be asked as a whole, else None."""
    table, count = forest.branches, len(forest.branches.columns)
    below = np.concatenate([table.yes, table.no])
    if not count or len(np.unique(below)) < len(below):
        return None
    above, side = np.full((2, count + forest.leaves), -1)
    above[below] = np.tile(np.arange(count), 2)
    side[table.yes] = 1
    at = np.arange(count, count + forest.leaves)
    steps: list[tuple[Array, Array, Array]] = []  # leaf, a branch above it, and its side
    for _ in range(forest.depth):
        inner = np.flatnonzero(above[at] >= 0)
        steps.append((inner, above[at[inner]], side[at[inner]]))
        at[inner] = above[at[inner]]
    if (at != forest.roots[forest.tree]).any():  # a leaf that no row comes to
        return None
    leaf, branch, way = (np.concatenate(each) for each in zip(*steps, strict=True))
    owner = np.empty(count, np.int64)
    owner[branch] = forest.tree[leaf]
    together = max(1, _BLOCK // int(np.bincount(owner).max()))
    if count * forest.leaves <= _WHOLE:
        together = len(forest.roots)
    owner, block = owner // together, forest.tree // together
    (place, most), (rank, widest) = _ranked(owner), _ranked(block)
    blocks = int(block.max()) + 1
    cells = blocks * widest
    if cells * max(most, targets) > max(_SIDES * forest.leaves, _WHOLE) or cells > _ROOM:
        return None
    branches = np.zeros((blocks, most), np.int64)
    branches[owner, place] = np.arange(count)
    sides = np.zeros((blocks, most, widest), np.int8)
    sides[block[leaf], place[branch], rank[leaf]] = way
    short = np.zeros((blocks, widest), np.int64)
    short[block, rank] = 1
    np.subtract.at(short, (block[leaf], rank[leaf]), way > 0)
    return Paths(branches, sides, short, block, rank)


def _ranked(groups: Array) -> tuple[Array, int]:
    """Return the place of each entry among those of its group, and the size of the largest."""
    sizes = np.bincount(groups)
    order = np.argsort(groups, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(groups)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return rank, int(sizes.max())
