"""Rows of a table for the models of ai.onnx.ml: what their features are like.

A model that was trained on ages and incomes gives one label to all that is drawn around zero. What
its features are like is in its attributes: where its trees branch, what its Scaler takes off
and divides by, where two of its classes are even, what its support vectors are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx

from graphfix.proving.inputs.leaves import rows_of_classes
from graphfix.proving.inputs.uses import Use, attribute_of
from graphfix.proving.values.kinds import Array

_DEPTH = 12
_PASSED = frozenset({"Cast", "Identity", "Flatten"})
_NEXT = 0.1  # how far, of the spread of a feature, a number is from where a tree branches
_NEAR = (_NEXT, 0.01 * _NEXT)
_WEIGHTS = "coefficients"
Shapes = Mapping[str, Sequence[int | str] | None]
Constants = Mapping[str, onnx.TensorProto]


def table(
    name: str,
    shape: tuple[int, ...],
    readers: Mapping[str, list[Use]],
    shapes: Shapes,
    constants: Constants,
    seed: Sequence[int],
) -> Array | None:
    """Return rows that a model may have been made for; None where nothing tells.

    Args:
        name: An input of floats.
        shape: Its sizes.
        readers: Who reads each tensor.
        shapes: The sizes of tensors as far as they are known.
        constants: The stored tensors by name.
        seed: The same for all inputs of one input set: columns that are inputs of their own are
            drawn as one table.
    """
    if len(shape) != 2 or 0 in shape:
        return None
    return _Table(readers, shapes, constants, list(seed)).rows(name, shape, 0)


class _Table:
    def __init__(
        self,
        readers: Mapping[str, list[Use]],
        shapes: Shapes,
        constants: Constants,
        seed: list[int],
    ) -> None:
        self._readers = readers
        self._shapes = shapes
        self._constants = constants
        self._seed = seed

    def rows(self, name: str, shape: tuple[int, ...], depth: int) -> Array | None:
        """Return what a tensor should hold, by one of its readers, by turns, that tells."""
        if depth > _DEPTH:
            return None
        uses = self._readers.get(name, [])
        turn = self._seed[-1] % len(uses) if uses else 0
        for use in (*uses[turn:], *uses[:turn]):
            found = self._by(use, shape, depth + 1)
            if found is not None:
                return found
        return None

    def _by(self, use: Use, shape: tuple[int, ...], depth: int) -> Array | None:
        node = use.node
        if node.op_type == "Concat":
            return self._part(use, shape, depth)
        if use.position or not node.output:
            return None
        if node.op_type in _PASSED:
            return self.rows(node.output[0], shape, depth)
        rng = np.random.default_rng(self._seed)
        match node.op_type:
            case "Imputer":
                return self.rows(node.output[0], shape, depth)
            case "Scaler":
                scaled = self.rows(node.output[0], shape, depth)
                return _unscaled(node, rng.standard_normal(shape) if scaled is None else scaled)
            case "Add" | "ArrayFeatureExtractor" | "Div" | "Gemm" | "MatMul" | "Mul" | "Sub":
                return self._before(node, shape, depth, rng)
            case "TreeEnsembleClassifier":
                found = _around_branches(node, shape, rng)
                adjacent = [near.node for near in self._readers[node.input[0]]]
                alike = [each for each in adjacent if each.op_type == node.op_type]
                return None if found is None else rows_of_classes(alike, found, rng)
            case "TreeEnsembleRegressor":
                return _around_branches(node, shape, rng)
            case "ReduceSumSquare" if depth > 1:  # how far a row is from the middle of a class
                return rng.standard_normal(shape)
            case "CDist" | "Scan":
                return self._near_others(node, shape, rng)
            case "LinearClassifier":
                return _around_ties(node, shape, rng)
            case "SVMClassifier" | "SVMRegressor":
                return _around_vectors(node, shape, rng)
            case _:
                return None

    def _before(
        self, node: onnx.NodeProto, shape: tuple[int, ...], depth: int, rng: np.random.Generator
    ) -> Array | None:
        """Return rows of which a constant makes what is wanted: moved, projected or picked."""
        if len(node.input) < 2:
            return None
        constant = self._constant(node.input[1])
        if constant is None:
            return None
        match node.op_type:
            case "ArrayFeatureExtractor":
                return self._picked(node, constant.ravel().astype(np.int64), shape, depth, rng)
            case "Gemm" | "MatMul":
                return self._projected(node, constant, shape, depth, rng)
            case _:
                return self._moved(node, constant.ravel(), shape, depth)

    def _moved(
        self, node: onnx.NodeProto, constant: Array, shape: tuple[int, ...], depth: int
    ) -> Array | None:
        wanted = self.rows(node.output[0], shape, depth)
        if wanted is None or constant.size not in (1, shape[1]):
            return None
        match node.op_type:
            case "Add":
                return np.asarray(wanted - constant)
            case "Sub":
                return np.asarray(wanted + constant)
            case "Div":
                return np.asarray(wanted * constant)
            case _:
                return np.asarray(wanted / constant) if constant.all() else None

    def _picked(
        self,
        node: onnx.NodeProto,
        places: Array,
        shape: tuple[int, ...],
        depth: int,
        rng: np.random.Generator,
    ) -> Array | None:
        wanted = self.rows(node.output[0], (shape[0], places.size), depth)
        if wanted is None or not np.all((places >= 0) & (places < shape[1])):
            return None
        drawn = rng.standard_normal(shape)
        drawn[:, places] = wanted
        return drawn

    def _projected(
        self,
        node: onnx.NodeProto,
        matrix: Array,
        shape: tuple[int, ...],
        depth: int,
        rng: np.random.Generator,
    ) -> Array | None:
        given = {attribute.name: attribute for attribute in node.attribute}
        if "transA" in given and given["transA"].i:
            return None
        matrix = matrix.T if "transB" in given and given["transB"].i else matrix
        matrix = matrix * (given["alpha"].f if "alpha" in given else 1.0)
        if matrix.ndim != 2 or matrix.shape[0] != shape[1]:
            return None
        wanted = self.rows(node.output[0], (shape[0], matrix.shape[1]), depth)
        if wanted is None:
            return None
        bias = self._constant(node.input[2]) if len(node.input) > 2 else None
        if bias is not None and bias.size in (1, matrix.shape[1]):
            wanted = wanted - bias.ravel() * (given["beta"].f if "beta" in given else 1.0)
        drawn = rng.standard_normal(shape)
        return np.asarray(drawn + (wanted - drawn @ matrix) @ np.linalg.pinv(matrix))

    def _near_others(
        self, node: onnx.NodeProto, shape: tuple[int, ...], rng: np.random.Generator
    ) -> Array | None:
        """Return rows next to those of a constant table that they are measured against."""
        for name in node.input[1:]:
            rows = self._constant(name)
            if rows is not None and rows.ndim == 2 and rows.shape[1] == shape[1] and len(rows) > 1:
                return _next_to(rows, shape, rng)
        return None

    def _constant(self, name: str) -> Array | None:
        tensor = self._constants.get(name)
        if tensor is None or tensor.data_location == onnx.TensorProto.EXTERNAL:
            return None
        array = onnx.numpy_helper.to_array(tensor)
        return array.astype(np.float64) if array.dtype.kind in "fiu" else None

    def _part(self, use: Use, shape: tuple[int, ...], depth: int) -> Array | None:
        """Return the columns of an input that become part of a larger table."""
        axis = attribute_of(use.node, "axis")
        if axis is None or axis.i not in (1, -1):
            return None
        shapes = [self._shapes.get(read) or () for read in use.node.input]
        columns = [known for each in shapes for known in each[1:2] if isinstance(known, int)]
        if len(columns) < len(shapes):
            return None
        start = sum(columns[: use.position])
        whole = self.rows(use.node.output[0], (shape[0], sum(columns)), depth)
        return None if whole is None else whole[:, start : start + shape[1]]


def _floats(node: onnx.NodeProto, name: str) -> Array:
    attribute = attribute_of(node, name)
    return np.array([] if attribute is None else list(attribute.floats), np.float64)


def _unscaled(node: onnx.NodeProto, scaled: Array) -> Array | None:
    offset, scale = _floats(node, "offset"), _floats(node, "scale")
    columns = scaled.shape[1]
    if offset.size not in (1, columns) or scale.size not in (1, columns) or not scale.all():
        return None
    return np.asarray(scaled / scale + offset)


def _around_branches(
    node: onnx.NodeProto, shape: tuple[int, ...], rng: np.random.Generator
) -> Array | None:
    """Return for each feature numbers next to where trees branch on it."""
    values = _floats(node, "nodes_values")
    features, modes = (attribute_of(node, f"nodes_{name}") for name in ("featureids", "modes"))
    if features is None or modes is None:
        return None
    inner = np.array([mode != b"LEAF" for mode in modes.strings], bool)
    ids = np.array(features.ints, np.int64)
    if not values.size == ids.size == inner.size:
        return None
    drawn = rng.standard_normal(shape)
    for column in range(shape[1]):
        found = values[inner & (ids == column) & np.isfinite(values)]
        if found.size:
            spread = float(found.std()) or float(np.abs(found[0])) or 1.0
            drawn[:, column] = rng.choice(found, shape[0]) + _NEXT * spread * drawn[:, column]
    return drawn


def _around_ties(
    node: onnx.NodeProto, shape: tuple[int, ...], rng: np.random.Generator
) -> Array | None:
    """Return rows around those for which two classes, one other pair for each row, are even."""
    weights, moved = _floats(node, _WEIGHTS), _floats(node, "intercepts")
    if not moved.size or weights.size != moved.size * shape[1]:
        return None
    weights = weights.reshape(moved.size, -1)
    drawn = rng.standard_normal(shape)
    for row in drawn:
        one, other = rng.permutation(moved.size)[:2] if moved.size > 1 else (0, -1)
        apart, gap = weights[one], moved[one]
        if moved.size > 2:
            apart, gap = apart - weights[other], gap - moved[other]
        length = float(apart @ apart)
        if length:
            row -= apart * (apart @ row + gap - rng.standard_normal()) / length
    return drawn


def _around_vectors(
    node: onnx.NodeProto, shape: tuple[int, ...], rng: np.random.Generator
) -> Array | None:
    """Return rows next to support vectors."""
    vectors = _floats(node, "support_vectors")
    if not vectors.size or vectors.size % shape[1]:
        return None
    vectors = vectors.reshape(-1, shape[1])
    return _next_to(vectors, shape, rng)


def _next_to(rows: Array, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    picked = rng.choice(len(rows), shape[0])
    near = rng.choice(_NEAR, (shape[0], 1))
    return np.asarray(rows[picked] + near * rows.std(axis=0) * rng.standard_normal(shape))
