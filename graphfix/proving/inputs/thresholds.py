"""The constants that integer inputs are compared with: a model branches on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import numpy_helper

from graphfix.protos import all_graphs, all_nodes
from graphfix.proving.inputs.uses import Use, attribute_of
from graphfix.proving.values.kinds import Array

_COMPARISONS = frozenset({"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"})
_MOST = 16


def small_integers(graph: onnx.GraphProto) -> dict[str, Array]:
    """Return the integer constants of at most 16 elements, by name; bodies have theirs too."""
    result: dict[str, Array] = {}
    for node in all_nodes(graph.node):
        if node.op_type == "Constant" and node.output:
            array = _constant(node)
            if array is not None:
                result[node.output[0]] = array
    for scope in all_graphs(graph):
        for tensor in scope.initializer:
            array = _integers(tensor)
            if array is not None:
                result[tensor.name] = array
    return result


def compared_with(uses: Sequence[Use], constants: Mapping[str, Array]) -> list[int]:
    """Return the numbers that an input is compared with, in the order in which it is."""
    found: dict[int, None] = {}
    for use in uses:
        if use.op not in _COMPARISONS or len(use.node.input) != 2:
            continue
        other = constants.get(use.node.input[1 - use.position])
        if other is not None:
            found |= {int(number): None for number in other.ravel()}
    return list(found)


def with_compared(
    values: Array, numbers: Sequence[int], turn: int, rng: np.random.Generator
) -> Array:
    """Put the numbers among drawn values, every second turn.

    A single element has the numbers one after the other; of several about half are replaced.
    """
    if not numbers or turn % 2:
        return values
    if values.size == 1:
        return np.full(values.shape, numbers[turn // 2 % len(numbers)], dtype=np.int64)
    places = rng.random(values.shape) < 0.5
    return np.where(places, rng.choice(np.array(numbers, dtype=np.int64), values.shape), values)


def _constant(node: onnx.NodeProto) -> Array | None:
    for name in ("value_int", "value_ints"):
        attribute = attribute_of(node, name)
        if attribute is not None:
            return np.array(attribute.ints or [attribute.i], dtype=np.int64)
    attribute = attribute_of(node, "value")
    return None if attribute is None else _integers(attribute.t)


def _integers(tensor: onnx.TensorProto) -> Array | None:
    external = tensor.data_location == onnx.TensorProto.EXTERNAL
    wanted = (onnx.TensorProto.INT32, onnx.TensorProto.INT64)
    if external or tensor.data_type not in wanted or int(np.prod(tensor.dims)) > _MOST:
        return None
    return np.asarray(numpy_helper.to_array(tensor), dtype=np.int64)
