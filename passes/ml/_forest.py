"""A forest as arrays, however the file writes it: branches first, leaves after them."""

from typing import Any

import numpy as np
from msgspec import Struct

from graphfix.authoring import Array, Refuse

# Deeper than this no tool grows a tree; each level costs the result seven nodes.
_DEEPEST = 2048


class Branches(Struct):
    """What each branch asks of a row; arrays with one entry for each.

    Attributes:
        columns: The column that is looked at, int32.
        thresholds: What it is compared with, float32 or float64.
        yes, no: Where it leads: the place of a branch, or the number of branches and that of a
            leaf; int32.
        less, equal, missing: Whether ``yes`` is taken where the number is less, equal, or NaN.
    """

    columns: Array
    thresholds: Array
    yes: Array
    no: Array
    less: Array
    equal: Array
    missing: Array


class Forest(Struct):
    """Trees, and what their leaves say.

    Attributes:
        branches: The branches of all trees.
        roots: Where each tree begins, numbered as `Branches.yes` is.
        depth: The most branches that a row passes in one tree.
        leaves: How many leaves there are.
        tree: The tree of each leaf.
        leaf, target, weight: One entry for each vote.
    """

    branches: Branches
    roots: Array
    depth: int
    leaves: int
    tree: Array
    leaf: Array
    target: Array
    weight: Array


# Mode -> (yes where less, yes where equal, turned round): x > t is not (x <= t), but for NaN.
_MODES = {
    "BRANCH_LEQ": (True, True, False),
    "BRANCH_LT": (True, False, False),
    "BRANCH_GTE": (True, False, True),
    "BRANCH_GT": (True, True, True),
    "BRANCH_EQ": (False, True, False),
    "BRANCH_NEQ": (False, True, True),
}


def branches_of(
    modes: list[str], columns: Array, thresholds: Array, yes: Array, no: Array, missing: Array
) -> Branches:
    """Write every comparison as one of <=, < and ==, with the ways exchanged where needed.

    Raises:
        Refuse: A mode is none of ONNX.
    """
    unknown = sorted(set(modes) - _MODES.keys())
    if unknown:
        raise Refuse(f"the branches must compare as ONNX says; they say {', '.join(unknown)}")
    rows = np.array([_MODES[mode] for mode in modes], bool).reshape(-1, 3)
    less, equal, turned = rows[:, 0], rows[:, 1], rows[:, 2]
    # NaN passes x > t only where missing values do, and x != t always.
    onward = np.where(turned, less & ~missing, missing)
    return Branches(
        columns.astype(np.int32),
        thresholds,
        np.where(turned, no, yes).astype(np.int32),
        np.where(turned, yes, no).astype(np.int32),
        less,
        equal,
        onward,
    )


def depth_of(branches: Branches, roots: Array) -> int:
    """Return how many branches a row passes at most; 1 where every tree is a leaf.

    Raises:
        Refuse: Branches lead back to themselves, or the trees are deeper than any tool grows them.
    """
    count = len(branches.columns)
    level = np.unique(roots[roots < count])
    for depth in range(_DEEPEST):
        if not level.size:
            return max(depth, 1)
        below = np.concatenate([branches.yes[level], branches.no[level]])
        level = np.unique(below[below < count])
    raise Refuse(
        f"the nodes must form trees of at most {_DEEPEST} levels; they form a cycle or deeper ones"
    )


def with_leaves(forest: Forest) -> Branches:
    """Let leaves are over the branches, each leading to itself."""
    branches, leaves = forest.branches, forest.leaves
    own = np.arange(leaves, dtype=np.int32) + np.int32(len(branches.columns))

    def after(array: Array, filled: Any) -> Array:
        return np.concatenate([array, np.full(leaves, filled, array.dtype)])

    return Branches(
        after(branches.columns, 0),
        after(branches.thresholds, 0),
        np.concatenate([branches.yes, own]),
        np.concatenate([branches.no, own]),
        after(branches.less, branches.less.all()),
        after(branches.equal, branches.equal.all()),
        after(branches.missing, branches.missing.all()),
    )


def fewer_than(columns: Array, features: int | None) -> None:
    """Refuse trees that look at columns which the rows do not have."""
    least, most = (int(columns.min()), int(columns.max())) if columns.size else (0, 0)
    if least < 0 or (features is not None and most >= features):
        raise Refuse(
            f"the branches must look at columns that there are; they look at {most}"
            if least >= 0
            else "the branches must look at columns that there are; one is negative"
        )
