"""Finding the leaves of a forest, all trees at once, and summing what they say.

Three ways, by the sizes of the trees. Of small ones every branch is asked, and a product with a
matrix of paths counts for each leaf the answers that lead to it. Of larger ones every branch is
asked, too, and the answers are followed, a node of the graph for each level. The largest are
walked: each level is seven nodes, whatever the number of trees. Measured in onnxruntime next to its
own operator, one thread: 20 trees of 32 leaves take 3.2, 5.9 and 13 times as long for a row, and
2.1, 4.8 and 17 times for 256. What it adds and when was read in microsoft/onnxruntime:
onnxruntime/core/providers/cpu/ml/tree_ensemble_aggregator.h and tree_ensemble_common.h.
"""

import numpy as np
from msgspec.structs import astuple
from onnx import TensorProto
from onnx.helper import np_dtype_to_tensor_dtype

from graphfix.authoring import Array, Builder, Refuse, Value

from ._forest import Branches, Forest, with_leaves
from ._paths import Paths, paths_of

WALK_EMITS = (
    "Add And Cast Equal Gather GatherElements Greater IsNaN Less LessOrEqual MatMul Not Or "
    "Mul ReduceMax ReduceMin ReduceSum Relu Sub Transpose Where"
)
_FOLLOWED = 40  # nodes for each level of a tree; to follow answers takes as long as walking then
_WIDEST = 1 << 13  # answers of one row; beyond, they take more room than walking
_DENSEST = 16  # times the votes; a table of leaves by targets must not be emptier


def reached(build: Builder, x: Value, forest: Forest) -> Value:
    """Return the leaf of each tree that each row comes to: int32 [rows, trees].

    Args:
        build: What to build with.
        x: The rows, [rows, columns], of the type of the thresholds.
        forest: The trees.
    """
    nodes = len(forest.branches.columns) + forest.leaves
    if nodes <= min(_FOLLOWED * forest.depth * len(forest.roots), _WIDEST):
        return _followed(build, x, forest)
    return _walked(build, x, forest)


def _followed(build: Builder, x: Value, forest: Forest) -> Value:
    """Ask all branches, then go from the roots where they say."""
    count = len(forest.branches.columns)
    # Leaves first, so that what leads to one is its number.
    table = Branches(*(np.roll(array, forest.leaves) for array in astuple(with_leaves(forest))))
    taken = build.Cast(_asked(build, x, table, np.arange(len(table.columns))), to=TensorProto.INT32)
    yes, no, roots = (
        (places - count) % len(table.columns) for places in (table.yes, table.no, forest.roots)
    )
    # onnxruntime takes ten times as long for a Where that repeats both of what it chooses from.
    way = build.Add(build.Mul(taken, yes - no), no)
    place = build.Gather(way, roots, axis=1)
    for _ in range(forest.depth - 1):
        place = build.GatherElements(way, place, axis=1)
    return place


def _asked(build: Builder, x: Value, table: Branches, at: Array) -> Value:
    """Say which branches `at` each row passes: bool [rows, branches], blocks first if there are.

    Columns are gathered as rows of the transposed data, which onnxruntime copies as a whole.
    """
    looked = build.Gather(build.Transpose(x, perm=[1, 0]), table.columns[at], axis=0)
    looked = build.Transpose(looked, perm=[*range(at.ndim - 1), at.ndim, at.ndim - 1])
    at = np.expand_dims(at, -2) if at.ndim > 1 else at
    return _Flags(build, table).taken(looked, build.constant(table.thresholds[at]), at)


def _walked(build: Builder, x: Value, forest: Forest) -> Value:
    """Look up what the branch asks that each row has come to, a level at a time."""
    table = with_leaves(forest)
    columns, thresholds, yes, no = (
        build.constant(array) for array in (table.columns, table.thresholds, table.yes, table.no)
    )
    flags = _Flags(build, table)
    at = forest.roots
    first = flags.taken(
        build.Gather(x, table.columns[at], axis=1), build.constant(table.thresholds[at]), at
    )
    place = build.Where(first, build.constant(table.yes[at]), build.constant(table.no[at]))
    for _ in range(forest.depth - 1):
        looked = build.GatherElements(x, build.Gather(columns, place, axis=0), axis=1)
        taken = flags.taken(looked, build.Gather(thresholds, place, axis=0), place)
        place = build.Where(
            taken, build.Gather(yes, place, axis=0), build.Gather(no, place, axis=0)
        )
    return build.Sub(place, np.int32(len(forest.branches.columns)))


class _Flags:
    """Decides at branches; tables are looked up where branches differ in how they compare."""

    def __init__(self, build: Builder, table: Branches) -> None:
        self._build = build
        self._table = table
        self._late: dict[str, Value] = {}

    def taken(self, x: Value, thresholds: Value, at: Value | Array) -> Value:
        """Say whether numbers pass the branches `at`."""
        build, table = self._build, self._table
        if table.less.all() and table.equal.all():
            found = _at_most(build, x, thresholds)
        else:
            terms: list[Value] = []
            if table.less.any():
                terms.append(self._where("less", build.Less(x, thresholds), at))
            if table.equal.any():
                terms.append(self._where("equal", build.Equal(x, thresholds), at))
            found = terms[0] if len(terms) == 1 else build.Or(*terms)
        if not table.missing.any():
            return found
        if table.missing.all() and table.less.all() and table.equal.all():
            return build.Not(build.Greater(x, thresholds))
        return build.Or(found, self._where("missing", build.IsNaN(x), at))

    def _where(self, name: str, truth: Value, at: Value | Array) -> Value:
        flags: Array = getattr(self._table, name)
        if flags.all():
            return truth
        if isinstance(at, np.ndarray):
            return self._build.And(truth, self._build.constant(flags[at]))
        table = self._late.setdefault(name, self._build.constant(flags.astype(np.int32)))
        picked = self._build.Gather(table, at, axis=0)
        return self._build.And(truth, self._build.Equal(picked, np.int32(1)))


def _at_most(build: Builder, x: Value, thresholds: Value) -> Value:
    if build.opset >= 12:
        return build.LessOrEqual(x, thresholds)
    return build.Or(build.Less(x, thresholds), build.Equal(x, thresholds))


def aggregated(build: Builder, x: Value, forest: Forest, targets: int, how: str = "SUM") -> Value:
    """Return what the leaves say together: [rows, targets], of the type of the votes.

    Args:
        build: What to build with.
        x: The rows, [rows, columns], of the type of the thresholds.
        forest: The trees.
        targets: How many targets or classes there are.
        how: SUM, AVERAGE, MIN or MAX.

    Raises:
        Refuse: The votes are of targets that there are not, or are too many; not every leaf has a
            vote for each target where their least or greatest is asked for.
    """
    own = _one_target_of_trees(forest)
    if ((forest.target < 0) | (forest.target >= targets)).any():
        raise Refuse(f"the votes must be for one of {targets} targets; one is not")
    if not np.isfinite(forest.weight).all():
        raise Refuse("the votes must be finite; one is not")
    pairs = forest.leaf * targets + forest.target
    if len(np.unique(pairs)) < len(pairs):
        raise Refuse("a leaf must have one vote for a target; one has several")
    if how in ("MIN", "MAX"):
        if len(pairs) != forest.leaves * targets:
            raise Refuse("each leaf must have a vote for each target; one has not")
        reduce = build.ReduceMin if how == "MIN" else build.ReduceMax
        return reduce(
            _dense(build, reached(build, x, forest), forest, targets), axes=[1], keepdims=0
        )
    if how not in ("SUM", "AVERAGE"):
        raise Refuse(f"the trees must be aggregated as ONNX says; they say {how}")
    kind = forest.weight.dtype
    paths = paths_of(forest, targets)
    if paths is not None:
        total = _counted(build, x, forest, paths, targets)
    elif own is None or targets == 1:
        votes = _dense(build, reached(build, x, forest), forest, targets)
        total = build.ReduceSum(votes, axes=[1], keepdims=0)
    else:
        weights = np.zeros(forest.leaves, kind)
        weights[forest.leaf] = forest.weight
        votes = build.Gather(build.constant(weights), reached(build, x, forest), axis=0)
        total = build.MatMul(votes, np.eye(targets, dtype=kind)[own])
    return build.Div(total, kind.type(len(forest.roots))) if how == "AVERAGE" else total


def _counted(build: Builder, x: Value, forest: Forest, paths: Paths, targets: int) -> Value:
    """Sum the votes of the leaves to which as many answers lead as there are on their paths."""
    kind = forest.weight.dtype
    weights = np.zeros((*paths.short.shape, targets), kind)
    weights[paths.block[forest.leaf], paths.rank[forest.leaf], forest.target] = forest.weight
    given = (paths.branches, paths.sides.astype(kind), paths.short.astype(kind)[:, None], weights)
    alone = len(weights) == 1
    branches, sides, short, weights = (each[0] for each in given) if alone else given
    taken = _asked(build, x, forest.branches, branches)
    met = build.MatMul(build.Cast(taken, to=np_dtype_to_tensor_dtype(kind)), sides)
    here = build.Relu(build.Add(met, short))  # 1 at one leaf of each tree, else 0
    if targets == 1:  # engines that multiply matrices in TF32 would round the votes
        votes = build.Mul(here, np.swapaxes(weights, -1, -2) if not alone else weights[:, 0])
        votes = build.ReduceSum(votes, axes=[1 if alone else 2], keepdims=1)
    else:
        votes = build.MatMul(here, weights)
    return votes if alone else build.ReduceSum(votes, axes=[0], keepdims=0)


def _one_target_of_trees(forest: Forest) -> Array | None:
    """Return the target that all leaves of each tree vote for; None where one votes for several."""
    own = np.zeros(len(forest.roots), np.int64)
    own[forest.tree[forest.leaf]] = forest.target
    return own if (own[forest.tree[forest.leaf]] == forest.target).all() else None


def _dense(build: Builder, leaves: Value, forest: Forest, targets: int) -> Value:
    """Return what each leaf says of each target: [rows, trees, targets]."""
    if forest.leaves * targets > _DENSEST * max(len(forest.leaf), 1):
        raise Refuse(
            f"each leaf must vote for a {_DENSEST}th of the targets at least; there are "
            f"{len(forest.leaf)} votes of {forest.leaves} leaves for {targets} targets"
        )
    weights = np.zeros((forest.leaves, targets), forest.weight.dtype)
    weights[forest.leaf, forest.target] = forest.weight
    return build.Gather(build.constant(weights), leaves, axis=0)
