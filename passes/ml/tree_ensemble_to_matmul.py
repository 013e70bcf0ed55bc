"""Replace TreeEnsembleRegressor by comparisons and products of matrices.

What it does:
    Compares every node of every tree with its threshold at once; a leaf is reached where all
    comparisons above it came out as its path wants, which a product with the matrix of paths
    counts; a second product sums the weights of the leaves that are reached.

Why engines need it:
    TensorRT has no operator of ai.onnx.ml.

Before:
    y = ai.onnx.ml.TreeEnsembleRegressor <...> (x)        # trees with N nodes and L leaves

After:
    signs = Where (x [columns] <= thresholds, 1, -1)      # [rows, N]
    reached = Equal (MatMul (signs, paths), depths)       # [rows, L]
    y = MatMul (Cast (reached), weights)

When it refuses:
    The trees are aggregated otherwise than by their sum, are transformed afterwards, compare
    otherwise than with <=, <, >= or >, let missing values pass some branches and not others, or
    have more than 2**22 pairs of node and leaf. Base values of several targets, one of which a row
    may reach no vote for: ONNX adds the base value then, onnxruntime does not.

Accuracy:
    Exact up to the order of summation; thresholds and weights keep their type. NaN goes where
    nodes_missing_value_tracks_true says.

References:
    https://onnx.ai/onnx/operators/onnx_aionnxml_TreeEnsembleRegressor.html;
    onnxruntime/core/providers/cpu/ml/tree_ensemble_aggregator.h; S. Nakandala and others, A tensor
    compiler for unified machine learning prediction serving (2020), section 4.1
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field
from onnx import TensorProto

from graphfix.authoring import Array, Builder, InferredType, NodeView, Refuse, Value, rewrite

_MAX_PAIRS = 1 << 22
# Mode of a branch -> (operator, whether equal numbers count, the operator of its opposite).
_COMPARISONS = {
    "BRANCH_LEQ": ("Less", True, "Greater"),
    "BRANCH_LT": ("Less", False, "Greater"),
    "BRANCH_GTE": ("Greater", True, "Less"),
    "BRANCH_GT": ("Greater", False, "Less"),
}


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """Rows of float32, one column for each target."""
    x = node.input(0)
    rows = x.shape[0] if x is not None and x.shape is not None and len(x.shape) == 2 else None
    return (InferredType(TensorProto.FLOAT, (rows, int(node.attr("n_targets", 1)))),)


class _Forest(Struct):
    """The trees as arrays: one entry for each branch, one for each leaf."""

    columns: list[int] = field(default_factory=list[int])
    thresholds: list[float] = field(default_factory=list[float])
    # For each leaf: {branch: 1 or -1} along its path, and its weights by target.
    paths: list[dict[int, int]] = field(default_factory=list[dict[int, int]])
    weights: list[Array] = field(default_factory=list[Array])
    mode: str = ""


@rewrite(
    "ai.onnx.ml::TreeEnsembleRegressor",
    removes="op:ai.onnx.ml::TreeEnsembleRegressor",
    emits="Add Cast Equal Gather Greater Less MatMul Not Or Where",
    infer=infer,
    since=11,
)
def tree_ensemble_to_matmul(node: NodeView, build: Builder) -> Value:
    """Compare at once, see the module."""
    x = node.need(0)
    if x.rank != 2 or x.dtype is None:
        raise Refuse(f"the rank of {x.name} must be 2 and its dtype known")
    if node.attr("aggregate_function", "SUM") != "SUM":
        raise Refuse("the trees must be summed (aggregate_function SUM); they are not")
    if node.attr("post_transform", "NONE") != "NONE":
        raise Refuse("the sum must not be transformed (post_transform NONE); it is")
    if len(node.attr("nodes_missing_value_tracks_true", [])) not in (0, len(_modes(node))):
        raise Refuse("the lists of nodes must have one length; they differ")
    missing = {bool(flag) for flag in _flags_of_branches(node)} or {False}
    if len(missing) > 1:
        raise Refuse("missing values must pass all branches or none; they pass some")
    double = node.has("nodes_values_as_tensor")
    if double != (x.dtype == np.dtype(np.float64)):
        raise Refuse(f"the thresholds must be of the dtype of {x.name}, {x.type_name}")
    kind = np.dtype(np.float64 if double else np.float32)
    data = x if x.dtype == kind else build.Cast(x, to=TensorProto.FLOAT)
    forest = _read(node, kind)
    if len(forest.columns) * len(forest.paths) > _MAX_PAIRS or not forest.columns:
        raise Refuse(
            f"the trees must have branches, and at most {_MAX_PAIRS} pairs of branch and leaf"
        )
    picked = build.Gather(data, np.array(forest.columns, np.int64), axis=1)
    thresholds = np.array(forest.thresholds, kind)
    taken = _taken(build, forest.mode, picked, thresholds, missing=missing.pop())
    signs = build.Where(taken, np.float32(1), np.float32(-1))
    matrix = np.zeros((len(forest.columns), len(forest.paths)), np.float32)
    for leaf, path in enumerate(forest.paths):
        for branch, sign in path.items():
            matrix[branch, leaf] = sign
    depths = np.array([len(path) for path in forest.paths], np.float32)
    counted = build.Cast(build.MatMul(signs, matrix), to=TensorProto.INT32)
    reached = build.Equal(counted, depths.astype(np.int32))
    chosen = build.Cast(reached, to=TensorProto.DOUBLE if double else TensorProto.FLOAT)
    total = build.MatMul(chosen, np.stack(forest.weights).astype(kind))
    base = _numbers(node, "base_values", kind)
    if base.size > 1 and not set(np.flatnonzero(base).tolist()) <= _always_voted(node):
        raise Refuse("each row must have a vote for a target with a base value; one may have none")
    if base.size:
        total = build.Add(total, base)
    return build.Cast(total, to=TensorProto.FLOAT) if double else total


def _taken(build: Builder, mode: str, x: Value, thresholds: Array, *, missing: bool) -> Value:
    """Return which branches are taken; NaN, which all comparisons are false of, if `missing`."""
    operator, equal, opposite = _COMPARISONS[mode]
    if missing:
        away = build.multi(opposite, x, thresholds, outputs=1)[0]
        return build.Not(away if equal else build.Or(away, build.Equal(x, thresholds)))
    taken = build.multi(operator, x, thresholds, outputs=1)[0]
    return build.Or(taken, build.Equal(x, thresholds)) if equal else taken


def _flags_of_branches(node: NodeView) -> list[int]:
    flags = node.attr("nodes_missing_value_tracks_true", [])
    return [flag for flag, mode in zip(flags, _modes(node), strict=False) if mode != "LEAF"]


def _modes(node: NodeView) -> list[str]:
    return list(node.attr("nodes_modes", []))


def _numbers(node: NodeView, name: str, kind: np.dtype[Any]) -> Array:
    given = node.attr(f"{name}_as_tensor")
    if given is None:
        given = node.attr(name, [])
    return np.asarray(given).astype(kind)


def _read(node: NodeView, kind: np.dtype[Any]) -> _Forest:
    trees = node.attr("nodes_treeids", [])
    ids = node.attr("nodes_nodeids", [])
    modes = _modes(node)
    yes, no = node.attr("nodes_truenodeids", []), node.attr("nodes_falsenodeids", [])
    columns = node.attr("nodes_featureids", [])
    values = _numbers(node, "nodes_values", kind)
    if not len(trees) == len(ids) == len(modes) == len(yes) == len(no) == len(columns):
        raise Refuse("the lists of nodes must have one length; they differ")
    branches = {mode for mode in modes if mode != "LEAF"}
    if len(branches) != 1 or not branches <= _COMPARISONS.keys() or len(values) != len(ids):
        raise Refuse(
            "the branches must be of one known kind; they are "
            f"{', '.join(sorted(branches)) or 'missing'}"
        )
    forest = _Forest(mode=next(iter(branches)))
    place = {key: at for at, key in enumerate(zip(trees, ids, strict=True))}
    weights = _leaf_weights(node, kind)
    roots = [at for at in range(len(trees)) if at == 0 or trees[at] != trees[at - 1]]
    if len(roots) != len(set(trees)):
        raise Refuse("the nodes of a tree must stand together; they do not")
    work: list[tuple[int, dict[int, int]]] = [(root, {}) for root in roots]
    while work:
        at, path = work.pop()
        tree = trees[at]
        if modes[at] == "LEAF":
            none = np.zeros(int(node.attr("n_targets", 1)), kind)
            forest.paths.append(path)
            forest.weights.append(weights.get((tree, ids[at]), none))
            continue
        branch = len(forest.columns)
        if branch > len(ids):
            raise Refuse("the nodes must form trees; they form a cycle")
        forest.columns.append(int(columns[at]))
        forest.thresholds.append(values[at])
        for child, sign in ((yes[at], 1), (no[at], -1)):
            if (tree, child) not in place:
                raise Refuse("each branch must lead to a node; one leads to none")
            work.append((place[tree, child], {**path, branch: sign}))
    return forest


def _leaf_weights(node: NodeView, kind: np.dtype[Any]) -> dict[tuple[int, int], Array]:
    """Return the weights of each leaf by target: {(tree, node): [targets]}."""
    count = int(node.attr("n_targets", 1))
    found: dict[tuple[int, int], Array] = {}
    entries = zip(
        node.attr("target_treeids", []),
        node.attr("target_nodeids", []),
        node.attr("target_ids", []),
        _numbers(node, "target_weights", kind),
        strict=True,
    )
    for tree, at, target, weight in entries:
        row = found.setdefault((tree, at), np.zeros(count, kind))
        row[target] += weight
    return found


def _always_voted(node: NodeView) -> set[int]:
    """Return the targets for which all leaves of some tree have a vote."""
    leaves: dict[int, set[int]] = {}
    nodes = zip(node.attr("nodes_treeids", []), node.attr("nodes_nodeids", []), strict=True)
    for (tree, at), mode in zip(nodes, _modes(node), strict=True):
        if mode == "LEAF":
            leaves.setdefault(tree, set()).add(at)
    votes: dict[tuple[int, int], set[int]] = {}
    names = ("target_treeids", "target_ids", "target_nodeids")
    for tree, target, at in zip(*(node.attr(name, []) for name in names), strict=True):
        votes.setdefault((tree, target), set()).add(at)
    return {target for (tree, target), voted in votes.items() if voted >= leaves.get(tree, {-1})}
