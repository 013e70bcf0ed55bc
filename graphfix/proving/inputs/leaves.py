"""Rows that a forest gives each of its classes, by way of the leaves that vote for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from msgspec import Struct

from graphfix.proving.inputs.forests import Forest, forest_of
from graphfix.proving.values.kinds import Array

_MOST = 1 << 21  # leaves times features
_ADJACENT = 0.1  # how far beyond an only limit a number is, of its size
_BELOW = frozenset({b"BRANCH_LEQ", b"BRANCH_LT"})
_ABOVE = frozenset({b"BRANCH_GTE", b"BRANCH_GT"})


class _Tree(Struct, frozen=True):
    """The leaves of a tree.

    Attributes:
        low: What each feature has to be above to lead to a leaf, by leaf and feature.
        high: What it has to be below.
        votes: What a leaf adds to the score of each class.
    """

    low: Array
    high: Array
    votes: Array


def rows_of_classes(
    nodes: Sequence[onnx.NodeProto], drawn: Array, rng: np.random.Generator
) -> Array:
    """Move every second row to where forests give it one class after the other.

    Each tree in its turn, in any order, leads the row to the leaf that votes most for the class
    among those that the trees before it have left open.

    Args:
        nodes: The TreeEnsembleClassifiers that read the rows, such as those of AdaBoost.
        drawn: Rows of float64 [N, features]; they are not changed.
        rng: Where the order of the trees comes from.

    Returns:
        The rows; `drawn` where the lists of the nodes tell nothing.
    """
    forests = [forest for node in nodes if (forest := forest_of(node)) is not None]
    trees = [tree for forest in forests for tree in _trees(forest, drawn.shape[1])]
    if len({tree.votes.shape[1] for tree in trees}) != 1:
        return drawn
    rows = drawn.copy()
    classes = int(trees[0].votes.shape[1])
    first = int(rng.integers(0, classes))
    for number, place in enumerate(range(0, len(rows), 2)):
        turns: list[int] = rng.permutation(len(trees)).tolist()
        order = [trees[at] for at in turns]
        rows[place] = _moved(rows[place], order, (first + number) % classes)
    return rows


def _moved(row: Array, trees: list[_Tree], wanted: int) -> Array:
    low, high = np.full(row.shape, -np.inf), np.full(row.shape, np.inf)
    for tree in trees:
        left = (np.maximum(tree.low, low) < np.minimum(tree.high, high)).all(axis=1)
        if left.any():
            lead = 2 * tree.votes[:, wanted] - tree.votes.sum(axis=1)
            best = int(np.argmax(np.where(left, lead, -np.inf)))
            low, high = np.maximum(low, tree.low[best]), np.minimum(high, tree.high[best])
    fits = (row > low) & (row < high)
    limits = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0))
    adjacent = _ADJACENT * (1 + np.abs(limits))
    above = np.where(np.isfinite(low), low, limits - 2 * adjacent)
    below = np.where(np.isfinite(high), high, limits + 2 * adjacent)
    return np.where(fits, row, (above + np.minimum(below, above + 2 * adjacent)) / 2)


def _trees(forest: Forest, columns: int) -> list[_Tree]:
    if forest.features.min() < 0 or forest.features.max() >= columns:
        return []
    votes = forest.votes
    if not votes[:, 1:].any():  # of two classes one is what the other one is not
        votes = np.concatenate([-votes[:, :1], votes[:, :1]], axis=1)
    if int(forest.leaves.sum()) * columns > _MOST:
        return []
    found: list[_Tree] = []
    for tree in np.unique(forest.trees):
        leaves, low, high = _leaves(forest, int(np.argmax(forest.trees == tree)), columns)
        found.append(_Tree(np.array(low), np.array(high), votes[leaves]))
    return found


def _leaves(forest: Forest, root: int, columns: int) -> tuple[list[int], list[Array], list[Array]]:
    """Return the leaves of a tree, and between which numbers each feature leads to them."""
    leaves: list[int] = []
    lows: list[Array] = []
    highs: list[Array] = []
    pending = [(root, np.full(columns, -np.inf), np.full(columns, np.inf), 0)]
    while pending:
        at, low, high, depth = pending.pop()
        if at < 0 or depth > len(forest.modes):
            continue
        mode, feature, value = forest.modes[at], forest.features[at], forest.values[at]
        if mode == b"LEAF":
            leaves.append(at)
            lows.append(low)
            highs.append(high)
            continue
        under, over = high.copy(), low.copy()
        under[feature], over[feature] = min(high[feature], value), max(low[feature], value)
        below, above = (low, under), (over, high)
        if mode in _ABOVE:
            below, above = above, below
        elif mode not in _BELOW:
            below = above = (low, high)
        pending += [(forest.yes[at], *below, depth + 1), (forest.no[at], *above, depth + 1)]
    return leaves, lows, highs
