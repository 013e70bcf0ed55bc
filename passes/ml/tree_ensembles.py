"""Replace the trees of ai.onnx.ml by comparisons, products with paths, and looking up.

What it does: Of small trees compares every column with the threshold of each branch; a product with
    a matrix of paths counts for each leaf the answers that lead to it, and where all do, its vote
    is added. Of larger trees the answers are followed from the roots, a GatherElements for each
    level. The largest are kept in tables of one entry for each node, and for each row and tree the
    node that it has come to: a level looks up the column and the threshold of that node, compares,
    and looks up where it continues; leaves lead to themselves. There is a pass for each of
    TreeEnsembleRegressor, TreeEnsembleClassifier and TreeEnsemble.
Why engines need it: TensorRT has no operator of ai.onnx.ml.
Before: y = ai.onnx.ml.TreeEnsembleRegressor <...> (x)
After:
    taken = Gather (x, columns) <= thresholds                                  # [rows, branches]
    here = Relu (MatMul (Cast (taken), paths) + 1 - taken branches of paths)     # [rows, leaves]
    y = MatMul (here, weights)
    # or, where the trees are large:
    at = Where (Gather (x, columns of roots) <= thresholds of roots, yes, no)     # [rows, trees]
    ...                                                              # once for each further level
    looked = GatherElements (x, Gather (columns, at))
    at = Where (looked <= Gather (thresholds, at), Gather (yes, at), Gather (no, at))
    y = ReduceSum (Gather (weights, at - branches), axis 1)
When it refuses: The nodes form no trees, or deeper ones than 2048 levels; the labels of the classes
    are texts that are read; a leaf votes several times for one target, or for less than a 16th of
    several targets; the least or greatest is asked for and a leaf has no vote. Where onnxruntime
    and ONNX disagree: base values of a target that a row may reach no vote for, one target that is
    transformed differently from how by PROBIT, and one score for two classes that may be negative,
    where onnxruntime gives two losing scores.
Accuracy: Exact up to the order of summation; thresholds and weights keep their type. A label is
    that of the highest sum, so it may be another where two sums are equal but for their rounding.
    NaN goes where nodes_missing_value_tracks_true says.
References: https://onnx.ai/onnx/operators/onnx_aionnxml_TreeEnsembleRegressor.html,
    onnx_aionnxml_TreeEnsembleClassifier.html, onnx_aionnxml_TreeEnsemble.html;
    onnxruntime/core/providers/cpu/ml/tree_ensemble_aggregator.h, ml_common.h
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, InferredType, NodeView, Refuse, Value, rewrite

from ._forest import Forest, fewer_than
from ._forest_reading import numbers, of_lists, of_tensors
from ._scoring import (
    LABEL_EMITS,
    TRANSFORM_EMITS,
    TRANSFORMS,
    count_of_labels,
    inferred,
    label_of,
    labels_of,
    rows_by,
    rows_of_numbers,
    transformed,
    transformed_targets,
)
from ._traversing import WALK_EMITS, aggregated

_AGGREGATED = ("AVERAGE", "SUM", "MIN", "MAX")
_EMITTED = (WALK_EMITS, TRANSFORM_EMITS, "Add Cast Div")


_LABELS = ("classlabels_int64s", "classlabels_strings")


def infer_classes(node: NodeView) -> Sequence[InferredType | None]:
    """A label and a score for each class, for each row.

    What is written for it holds all trees, and ONNX infers no more of it.
    """
    return inferred(node, _LABELS)


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """Rows of float32, one column for each target."""
    return (rows_by(node, int(node.attr("n_targets", 1))),)


@rewrite("ai.onnx.ml::TreeEnsembleRegressor", emits=_EMITTED, infer=infer, since=11)
def tree_ensemble_regressor_to_gather(node: NodeView, build: Builder) -> Value:
    """Replace TreeEnsembleRegressor by looking up which way each row goes."""
    x, kind = _read(node, build)
    forest = of_lists(node, kind, "target")
    targets, how = int(node.attr("n_targets", 1)), node.attr("aggregate_function", "SUM")
    total = _summed(build, x, forest, targets, how)
    base = numbers(node, "base_values", kind)
    if base.size not in (0, targets):
        raise Refuse(f"there must be a base value for each of {targets} targets; there are others")
    if base.size > 1 and not set(np.flatnonzero(base).tolist()) <= _always_voted(forest):
        raise Refuse("each row must have a vote for a target with a base value; one may have none")
    if base.size:
        total = build.Add(total, base)
    total = transformed_targets(build, total, targets, node.attr("post_transform", "NONE"))
    return total if kind == np.float32 else build.Cast(total, to=TensorProto.FLOAT)


@rewrite("ai.onnx.ml::TreeEnsemble", emits=_EMITTED, since=11)
def tree_ensemble_to_gather(node: NodeView, build: Builder) -> Value:
    """Replace TreeEnsemble by looking up which way each row goes."""
    x = node.need(0)
    if x.elem_type not in (TensorProto.FLOAT, TensorProto.DOUBLE) or x.rank != 2:
        raise Refuse(f"{x.name} must be a matrix of float32 or float64; it is not")
    assert x.dtype is not None
    forest = of_tensors(node, x.dtype)
    targets, how = int(node.attr("n_targets", 1)), int(node.attr("aggregate_function", 1))
    after = int(node.attr("post_transform", 0))
    if not 0 <= how < len(_AGGREGATED) or not 0 <= after < len(TRANSFORMS):
        raise Refuse("aggregate_function and post_transform must be of ONNX; they are not")
    if TRANSFORMS[after] in ("SOFTMAX", "LOGISTIC"):
        # Numbers of its own: 1 is LOGISTIC there (core/providers/cpu/ml/ml_common.h).
        raise Refuse(
            f"post_transform must not be {after}: ONNX takes it for {TRANSFORMS[after]}, "
            "onnxruntime for another"
        )
    total = _summed(build, x, forest, targets, _AGGREGATED[how])
    return transformed_targets(build, total, targets, TRANSFORMS[after])


@rewrite(
    "ai.onnx.ml::TreeEnsembleClassifier",
    emits=(*_EMITTED, LABEL_EMITS, "Concat"),
    infer=infer_classes,
    since=11,
)
def tree_ensemble_classifier_to_gather(
    node: NodeView, build: Builder
) -> tuple[Value | None, Value | None]:
    """Replace TreeEnsembleClassifier by looking up which way each row goes."""
    labels = labels_of(node, _LABELS)
    count = count_of_labels(node, _LABELS)
    x, kind = _read(node, build)
    forest = of_lists(node, kind, "class")
    after, base = node.attr("post_transform", "NONE"), numbers(node, "base_values", kind)
    if count < 2:
        raise Refuse("there must be at least two classes; there is one")
    numbered = node.attr("classlabels_int64s", [0, 1])
    if count == 2 and len(set(forest.target.tolist())) == 2 and list(numbered) != [0, 1]:
        raise Refuse(
            f"labels of two classes with votes for both must be 0 and 1; they are {numbered}"
        )
    if count == 2:
        scores, won = _of_two(build, x, forest, base, after)
    else:
        scores, won = _of_many(build, x, forest, base, after, count)
    if kind != np.float32:
        scores = build.Cast(scores, to=TensorProto.FLOAT)
    return None if labels is None else label_of(build, won, labels), scores


def _of_many(
    build: Builder, x: Value, forest: Forest, base: Array, after: str, count: int
) -> tuple[Value, Value]:
    """Return scores and the values of the classes with the highest."""
    if base.size not in (0, count):
        raise Refuse(f"there must be a base value for each of {count} classes; there are others")
    if not base.size and not _is_decided(forest, count):
        raise Refuse("each row must have a vote for each class; one may have none")
    total = _summed(build, x, forest, count, "SUM")
    if base.size:
        total = build.Add(total, base)
    won = build.ArgMax(total, axis=1, keepdims=0)
    return transformed(build, total, after), won


def _of_two(
    build: Builder, x: Value, forest: Forest, base: Array, after: str
) -> tuple[Value, Value]:
    """Return scores and 0 or 1, as onnxruntime does for two classes with votes for one of them."""
    voted = set(forest.target.tolist())
    if voted == {0, 1} and not base.size and _is_mirrored(forest):
        return _of_mirrored(build, x, forest, after)
    if voted != {0} and voted != {1}:
        raise Refuse(
            "with two classes the votes must be for one of them, or opposite; they are for "
            f"{'both, where onnxruntime goes by the sign of the second' if voted else 'none'}"
        )
    if base.size > 1 or (base.size and voted == {1}):
        raise Refuse(
            f"two classes must have at most one base value, of the first; they have {base.size}"
        )
    forest.target[:] = 0
    total = _summed(build, x, forest, 1, "SUM")
    if base.size:
        total = build.Add(total, base)
    positive = bool((forest.weight >= 0).all())
    won = build.Greater(total, 0.5 if positive else 0.0)
    label = build.Cast(build.Reshape(won, [-1]), to=TensorProto.INT64)
    if voted == {1}:
        first = build.Sub(total, total)
        return transformed(build, build.Concat(first, total, axis=1), after), label
    if after == "LOGISTIC" and not positive:
        pair = build.Concat(build.Neg(total), total, axis=1)
        return transformed(build, pair, after), label
    if after != "NONE" or not positive:
        raise Refuse(
            "one score for two classes must be a probability, or of either sign and transformed by "
            "LOGISTIC; it is neither, and onnxruntime does not do what ONNX says"
        )
    one = build.constant(np.ones(1, forest.weight.dtype))
    return build.Concat(build.Sub(one, total), total, axis=1), label


def _is_mirrored(forest: Forest) -> bool:
    """Whether each leaf votes for one of two classes as much as against the other, once each.

    So does CatBoost. The sign of the second score, which onnxruntime goes by, then tells the
    higher one.
    """
    order = np.lexsort((forest.target, forest.leaf))
    pairs = order.reshape(-1, 2) if len(order) % 2 == 0 else order[:0].reshape(0, 2)
    leaf, target, weight = (given[pairs] for given in (forest.leaf, forest.target, forest.weight))
    return (
        len(pairs) == forest.leaves
        and bool((leaf[:, 0] == leaf[:, 1]).all())
        and bool((target == [0, 1]).all())
        and bool((weight[:, 0] == -weight[:, 1]).all())
    )


def _of_mirrored(build: Builder, x: Value, forest: Forest, after: str) -> tuple[Value, Value]:
    """Return scores of two classes of which one is the other with the other sign."""
    second = forest.target == 1
    forest.leaf, forest.weight = forest.leaf[second], forest.weight[second]
    forest.target = np.zeros_like(forest.target[second])
    total = _summed(build, x, forest, 1, "SUM")
    won = build.Reshape(build.Greater(total, 0.0), [-1])
    pair = build.Concat(build.Neg(total), total, axis=1)
    return transformed(build, pair, after), build.Cast(won, to=TensorProto.INT64)


def _read(node: NodeView, build: Builder) -> tuple[Value, np.dtype[Any]]:
    """Return the rows, and the type that thresholds and sums have."""
    x = node.need(0)
    double = x.elem_type == TensorProto.DOUBLE
    if not double and any(
        node.has(name) for name in node.attributes if name.endswith("_as_tensor")
    ):
        raise Refuse(f"thresholds of float64 go with rows of float64; {x.name} is {x.type_name}")
    kind = TensorProto.DOUBLE if double else TensorProto.FLOAT
    return rows_of_numbers(build, x, kind), np.dtype(np.float64 if double else np.float32)


def _summed(build: Builder, x: Value, forest: Forest, targets: int, how: str) -> Value:
    fewer_than(forest.branches.columns, x.dim(1))
    return aggregated(build, x, forest, targets, how)


def _always_voted(forest: Forest) -> set[int]:
    """Return the targets for which all leaves of some tree have a vote."""
    leaves = np.bincount(forest.tree, minlength=len(forest.roots))
    pairs = np.unique(np.stack([forest.target, forest.tree[forest.leaf], forest.leaf]), axis=1)
    found, counts = np.unique(pairs[:2], axis=1, return_counts=True)
    return set(found[0][counts == leaves[found[1]]].tolist())


def _is_decided(forest: Forest, classes: int) -> bool:
    """Say whether a class without a vote cannot win: none is, or another has more than 0."""
    if _always_voted(forest) >= set(range(classes)):
        return True
    leaves = np.bincount(forest.tree, minlength=len(forest.roots))
    above = np.unique(forest.leaf[forest.weight > 0])
    counts = np.bincount(forest.tree[above], minlength=len(forest.roots))
    return bool((forest.weight >= 0).all() and (counts == leaves).any())
