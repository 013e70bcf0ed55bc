"""Forests that give the same label whatever they read, because one class wins in every leaf."""

from __future__ import annotations

import numpy as np
import onnx

from graphfix.proving.inputs.forests import forest_of

_FEWEST = 3  # classes: of two, onnxruntime gives labels by rules of their own
_MARGIN = 1e-5  # of the weights: what sums of float32 may be off


def has_settled_label(node: onnx.NodeProto) -> bool:
    """Say whether a TreeEnsembleClassifier gives one label, whichever leaves its input leads to.

    Every row leads to one leaf of each tree. So a class leads another one by at least the sum, over
    the trees, of its smallest lead in a leaf.
    """
    if (node.domain, node.op_type) != ("ai.onnx.ml", "TreeEnsembleClassifier"):
        return False
    forest = forest_of(node)
    if forest is None or forest.votes.shape[1] < _FEWEST:
        return False
    leaves = forest.leaves
    trees = [forest.votes[leaves & (forest.trees == tree)] for tree in np.unique(forest.trees)]
    if not all(len(votes) for votes in trees):
        return False
    winner = int(np.argmax(forest.base + sum(votes[0] for votes in trees)))
    lead = forest.base[winner] - forest.base
    for votes in trees:
        lead = lead + (votes[:, [winner]] - votes).min(axis=0)
    sure = _MARGIN * (np.abs(forest.votes).sum() + np.abs(forest.base).sum())
    return bool((np.delete(lead, winner) > sure).all())
