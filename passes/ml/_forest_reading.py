"""Reading forests: the lists of TreeEnsembleClassifier and -Regressor, and of TreeEnsemble.

https://onnx.ai/onnx/operators/onnx_aionnxml_TreeEnsembleRegressor.html, onnx_aionnxml_TreeEnsemble
"""

from typing import Any

import numpy as np

from graphfix.authoring import Array, NodeView, Refuse

from ._forest import Branches, Forest, branches_of, depth_of

_NEWER = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
_MEMBER = len(_NEWER)
_MOST_MEMBERS = 64


def numbers(node: NodeView, name: str, kind: np.dtype[Any]) -> Array:
    """Return a list of numbers that is written as floats or as a tensor."""
    given = node.attr(f"{name}_as_tensor")
    if given is None:
        given = node.attr(name, [])
    return np.asarray(given).astype(kind).reshape(-1)


def integers(node: NodeView, name: str) -> Array:
    """Return a list of integers as int64."""
    return np.asarray(node.attr(name, []), np.int64).reshape(-1)


def of_lists(node: NodeView, kind: np.dtype[Any], votes: str) -> Forest:
    """Read the lists of ai.onnx.ml 1 to 3.

    Args:
        node: A TreeEnsembleClassifier or TreeEnsembleRegressor.
        kind: The type of thresholds and weights.
        votes: ``class`` or ``target``, with which the lists of votes begin.

    Raises:
        Refuse: The lists do not describe trees.
    """
    names = ("treeids", "nodeids", "featureids", "truenodeids", "falsenodeids")
    trees, ids, columns, yes, no = (integers(node, f"nodes_{name}") for name in names)
    values = numbers(node, "nodes_values", kind)
    modes: list[str] = list(node.attr("nodes_modes", []))
    missing = integers(node, "nodes_missing_value_tracks_true").astype(bool)
    missing = missing if missing.size else np.zeros(len(ids), bool)
    lists = (trees, columns, yes, no, values, modes, missing)
    if any(len(given) != len(ids) for given in lists) or not len(ids):
        raise Refuse("the lists of nodes must have one length, which is not 0; they differ")
    is_leaf = np.array([mode == "LEAF" for mode in modes])
    names_of_trees, tree = np.unique(trees, return_inverse=True)
    # Branches first, leaves after; `place` says where a node of the file is.
    place = np.empty(len(ids), np.int64)
    place[~is_leaf] = np.arange((~is_leaf).sum())
    place[is_leaf] = np.arange(is_leaf.sum()) + (~is_leaf).sum()
    find = _Finder(tree, ids)
    at = np.flatnonzero(~is_leaf)
    one, other = (find(tree[at], way[at], "each branch must lead to a node") for way in (yes, no))
    named = [modes[i] for i in at]
    branches = branches_of(named, columns[at], values[at], place[one], place[other], missing[at])
    roots = _roots(np.concatenate([one, other]), trees, len(names_of_trees))
    voters = np.searchsorted(names_of_trees, integers(node, f"{votes}_treeids"))
    voters = np.minimum(voters, len(names_of_trees) - 1)
    nodes = find(voters, integers(node, f"{votes}_nodeids"), "each vote must be of a node")
    target, weight = integers(node, f"{votes}_ids"), numbers(node, f"{votes}_weights", kind)
    if not len(nodes) == len(target) == len(weight):
        raise Refuse("the lists of votes must have one length; they differ")
    at_leaf = is_leaf[nodes]  # what a branch is given counts nowhere
    return Forest(
        branches,
        place[roots].astype(np.int32),
        depth_of(branches, place[roots]),
        int(is_leaf.sum()),
        tree[is_leaf],
        place[nodes][at_leaf] - len(at),
        target[at_leaf],
        weight[at_leaf],
    )


class _Finder:
    """Finds the nodes of trees by their numbers."""

    def __init__(self, tree: Array, ids: Array) -> None:
        self._lowest = int(ids.min())
        self._step = int(ids.max()) - self._lowest + 1
        key = tree * self._step + (ids - self._lowest)
        self._order = np.argsort(key, kind="stable")
        self._sorted = key[self._order]
        if (self._sorted[1:] == self._sorted[:-1]).any():
            raise Refuse("each node of a tree must have a number of its own; two share one")

    def __call__(self, tree: Array, wanted: Array, what: str) -> Array:
        if len(tree) != len(wanted):
            raise Refuse("the lists of votes must have one length; they differ")
        key = tree * self._step + (wanted - self._lowest)
        near = np.minimum(np.searchsorted(self._sorted, key), len(self._sorted) - 1)
        outside = (wanted < self._lowest) | (wanted >= self._lowest + self._step)
        if (self._sorted[near] != key).any() or outside.any():
            raise Refuse(f"{what}; one is of none")
        found: Array = self._order[near]
        return found


def _roots(children: Array, trees: Array, count: int) -> Array:
    """Return the first node of each tree; it is the only one that no branch leads to.

    Raises:
        Refuse: It is not.
    """
    top = np.ones(len(trees), bool)
    top[children] = False
    starts = np.concatenate([[0], np.flatnonzero(trees[1:] != trees[:-1]) + 1])
    if len(starts) != count:
        raise Refuse("the nodes of a tree must be together; they do not")
    if not np.array_equal(np.flatnonzero(top), starts):
        raise Refuse("each tree must begin with its one root; one does not")
    return starts


def of_tensors(node: NodeView, kind: np.dtype[Any]) -> Forest:
    """Read the attributes of TreeEnsemble, which ai.onnx.ml has from 5 on.

    Raises:
        Refuse: They do not describe trees.
    """
    columns = integers(node, "nodes_featureids")
    yes, no = integers(node, "nodes_truenodeids"), integers(node, "nodes_falsenodeids")
    to_leaf = [integers(node, f"nodes_{way}leafs").astype(bool) for way in ("true", "false")]
    values = np.asarray(node.attr("nodes_splits")).astype(kind).reshape(-1)
    codes = np.asarray(node.attr("nodes_modes")).astype(np.int64).reshape(-1)
    missing = integers(node, "nodes_missing_value_tracks_true").astype(bool)
    missing = missing if missing.size else np.zeros(len(columns), bool)
    target = integers(node, "leaf_targetids")
    weight = np.asarray(node.attr("leaf_weights")).astype(kind).reshape(-1)
    roots = integers(node, "tree_roots")
    lists = (yes, no, *to_leaf, values, codes, missing)
    if any(len(given) != len(columns) for given in lists) or len(target) != len(weight):
        raise Refuse("the lists of nodes must have one length, and those of leaves; they differ")
    for way, leaf in zip((yes, no), to_leaf, strict=True):
        ends = np.where(leaf, len(target), len(columns))
        if ((way < 0) | (way >= ends)).any():
            raise Refuse("each branch must lead to a node; one leads to none")
    if ((roots < 0) | (roots >= len(columns))).any() or not roots.size:
        raise Refuse("each tree must begin at a node; one begins at none")
    if ((codes < 0) | (codes > _MEMBER)).any():
        raise Refuse("the branches must compare as ONNX says; one does otherwise")
    branches, first = _with_members(node, codes, columns, values, yes, no, to_leaf, missing)
    begin = first[roots].astype(np.int32)
    depth = depth_of(branches, begin)
    tree = _trees_of_leaves(branches, begin, len(target))
    leaf = np.arange(len(target))
    return Forest(branches, begin, depth, len(target), tree, leaf, target, weight)


def _with_members(
    node: NodeView,
    codes: Array,
    columns: Array,
    values: Array,
    yes: Array,
    no: Array,
    to_leaf: list[Array],
    missing: Array,
) -> tuple[Branches, Array]:
    """Write a question for members of a set as one for each of them; return where nodes begin."""
    sets = _sets(node, int((codes == _MEMBER).sum()), values.dtype)
    sizes = np.ones(len(codes), np.int64)
    sizes[codes == _MEMBER] = [len(members) for members in sets]
    first = np.cumsum(sizes) - sizes
    count = int(sizes.sum())
    owner = np.repeat(np.arange(len(codes)), sizes)
    thresholds = values[owner]
    thresholds[codes[owner] == _MEMBER] = [x for members in sets for x in members]
    found, missed = (
        np.where(leaf, way + count, first[np.where(leaf, 0, way)])[owner]
        for way, leaf in zip((yes, no), to_leaf, strict=True)
    )
    last = np.arange(count) == (first + sizes - 1)[owner]
    missed = np.where(last, missed, np.arange(count) + 1)
    modes: list[str] = [
        _NEWER[code] if code < _MEMBER else "BRANCH_EQ" for code in map(int, codes[owner])
    ]
    return branches_of(modes, columns[owner], thresholds, found, missed, missing[owner]), first


def _sets(node: NodeView, count: int, kind: np.dtype[Any]) -> list[list[Any]]:
    """Return the members of each set: the list has a NaN after each of them."""
    given = node.attr("membership_values")
    if given is None or not count:
        if count:
            raise Refuse(
                "branches that ask for members must have membership_values; there are none"
            )
        return []
    found: list[list[Any]] = [[]]
    for number in np.asarray(given).astype(kind).reshape(-1).tolist():
        if number != number:
            found.append([])
        else:
            found[-1].append(number)
    if not found[-1]:
        found.pop()
    if len(found) != count or any(not 0 < len(members) <= _MOST_MEMBERS for members in found):
        raise Refuse(
            f"there must be a set of 1 to {_MOST_MEMBERS} members for each branch that asks for "
            f"them; there are {len(found)} sets for {count} branches"
        )
    return found


def _trees_of_leaves(branches: Branches, roots: Array, leaves: int) -> Array:
    """Return the tree that each leaf is reached in; 0 where none reaches it.

    Raises:
        Refuse: Two trees share a node.
    """
    count = len(branches.columns)
    tree: Array = np.full(count + leaves, -1)
    level: Array = roots.astype(np.int64)
    own: Array = np.arange(len(roots))
    while level.size:
        tree[level] = own
        inner = level < count
        level, own = level[inner], own[inner]
        below = np.concatenate([branches.yes[level], branches.no[level]])
        level, at = np.unique(below, return_index=True)
        own = np.concatenate([own, own])[at]
    walked = np.flatnonzero(tree[:count] >= 0)
    apart = all((tree[way[walked]] == tree[walked]).all() for way in (branches.yes, branches.no))
    if not apart or (tree[roots] != np.arange(len(roots))).any():
        raise Refuse("the trees must have nodes of their own; two share some")
    found: Array = np.maximum(tree[count:], 0)
    return found
