"""What is in a TreeEnsembleClassifier: its nodes, and how each of them votes.

https://onnx.ai/onnx/operators/onnx_aionnxml_TreeEnsembleClassifier.html
"""

from __future__ import annotations

import numpy as np
import onnx
from msgspec import Struct

from graphfix.proving.inputs.uses import attribute_of
from graphfix.proving.values.kinds import Array

_MOST = 1 << 22  # nodes times classes


class Forest(Struct, frozen=True):
    """The nodes of all trees, in the order of the file.

    Attributes:
        trees: Which tree each belongs to.
        features: The column that each branches on.
        values: The number that it compares it with.
        modes: How; `LEAF` for a leaf.
        yes: The place of the node that a comparison that holds leads to.
        no: As above, where it does not hold.
        votes: What each node adds to the score of each class.
        base: What the scores begin with.
    """

    trees: Array
    features: Array
    values: Array
    modes: list[bytes]
    yes: list[int]
    no: list[int]
    votes: Array
    base: Array

    @property
    def leaves(self) -> Array:
        """Which nodes are leaves."""
        return np.array([mode == b"LEAF" for mode in self.modes], bool)


def forest_of(node: onnx.NodeProto) -> Forest | None:
    """Return what the lists of a TreeEnsembleClassifier say; None where they do not fit."""
    trees, ids, features, yes, no = (
        integers(node, f"nodes_{name}")
        for name in ("treeids", "nodeids", "featureids", "truenodeids", "falsenodeids")
    )
    values, modes = floats(node, "nodes_values"), attribute_of(node, "nodes_modes")
    owners, voters, classes = (
        integers(node, f"class_{name}") for name in ("treeids", "nodeids", "ids")
    )
    weights = floats(node, "class_weights")
    if modes is None or not len(classes) or classes.min() < 0:
        return None
    lengths = {len(given) for given in (trees, ids, features, yes, no, values, modes.strings)}
    count = max(int(classes.max()) + 1, *_labels(node))
    if len(lengths) > 1 or len({len(g) for g in (owners, voters, classes, weights)}) > 1:
        return None
    if len(ids) * count > _MOST:
        return None
    place = {key: n for n, key in enumerate(zip(trees.tolist(), ids.tolist(), strict=True))}
    votes = np.zeros((len(ids), count))
    for owner, voter, at, weight in zip(owners, voters, classes, weights, strict=True):
        if (int(owner), int(voter)) in place:
            votes[place[int(owner), int(voter)], at] += weight
    base = floats(node, "base_values")
    left, right = (
        [place.get((int(t), int(i)), -1) for t, i in zip(trees, way, strict=True)]
        for way in (yes, no)
    )
    start = base if len(base) == count else np.zeros(count)
    return Forest(trees, features, values, list(modes.strings), left, right, votes, start)


def _labels(node: onnx.NodeProto) -> tuple[int, int]:
    numbers = len(integers(node, "classlabels_int64s"))
    texts = attribute_of(node, "classlabels_strings")
    return numbers, 0 if texts is None else len(texts.strings)


def integers(node: onnx.NodeProto, name: str) -> Array:
    """Return an attribute of integers; empty where it is not there."""
    found = attribute_of(node, name)
    return np.array([] if found is None else list(found.ints), np.int64)


def floats(node: onnx.NodeProto, name: str) -> Array:
    """Return an attribute of floats as float64; empty where it is not there."""
    found = attribute_of(node, name)
    return np.array([] if found is None else list(found.floats), np.float64)
