"""What inputs are compared with, constants and each other: a model branches on that.

Numbers drawn at random never meet: without this, Equal of floats is False everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import prod

import numpy as np
import onnx
from onnx import numpy_helper

from graphfix.ir.protos import all_graphs, all_nodes
from graphfix.ir.storage.weights import numpy_dtype
from graphfix.operators.table import COMPARISONS
from graphfix.proving.inputs import draws, roles
from graphfix.proving.inputs.uses import Use, attribute_of, uses_of
from graphfix.proving.values.kinds import Array, Feed, is_floating, is_integer

_MOST = 16
_SHARED = 0.7  # of the elements of compared inputs come from few numbers: a third of pairs meet
_FEW = 2


def small_numbers(graph: onnx.GraphProto) -> dict[str, Array]:
    """Return the constants of at most 16 finite numbers, by name; subgraphs have theirs too."""
    result: dict[str, Array] = {}
    for node in all_nodes(graph.node):
        if node.op_type == "Constant" and node.output:
            array = _constant(node)
            if array is not None:
                result[node.output[0]] = array
    for scope in all_graphs(graph):
        for tensor in scope.initializer:
            array = _numbers(tensor)
            if array is not None:
                result[tensor.name] = array
    return result


def compared_with(uses: Sequence[Use], constants: Mapping[str, Array]) -> list[int | float]:
    """Return the numbers that an input is compared with, in the order in which it is."""
    found: dict[int | float, None] = {}
    for use in uses:
        if use.op not in COMPARISONS or len(use.node.input) != 2:
            continue
        other = constants.get(use.node.input[1 - use.position])
        if other is not None:
            found |= dict.fromkeys(other.ravel().tolist())
    return list(found)


def with_compared(
    values: Array, numbers: Sequence[int | float], turn: int, rng: np.random.Generator
) -> Array:
    """Put the numbers among drawn values, every second turn; an integer takes whole ones alone.

    A single element has the numbers one after the other; of several about half are replaced, of
    floats, which have more room, a quarter.
    """
    whole = values.dtype.kind in "iu"
    numbers = [number for number in numbers if not whole or int(number) == number]
    if not numbers or turn % 2:
        return values
    if values.size == 1:
        return np.full(values.shape, numbers[turn // 2 % len(numbers)], dtype=values.dtype)
    places = rng.random(values.shape) < (0.5 if whole else 0.25)
    picked = rng.choice(np.array(numbers, dtype=values.dtype), values.shape)
    return np.where(places, picked, values)


def compared_pairs(names: Sequence[str], readers: Mapping[str, list[Use]]) -> list[tuple[str, str]]:
    """Return the inputs that a node compares with each other, as they are or moved around."""
    ends = {
        name: {(id(use.node), use.position) for use in uses_of(name, readers) if _compares(use)}
        for name in names
    }
    return [
        (one, two)
        for one, two in combinations(names, 2)
        if any((node, 1 - position) in ends[two] for node, position in ends[one])
    ]


def meet(
    feed: Feed,
    pairs: Sequence[tuple[str, str]],
    readers: Mapping[str, list[Use]],
    turn: int,
    rng: np.random.Generator,
) -> None:
    """Let inputs that are compared with each other have equal elements, every second turn.

    Args:
        feed: The drawn inputs; changed in place.
        pairs: What `compared_pairs` says.
        readers: Who reads each tensor. Of two inputs only one may be bound to a domain.
        turn: Which sample it is.
        rng: Where the choice of places comes from.
    """
    if turn % 2:
        return
    for one, two in pairs:
        values = feed[one], feed[two]
        if not all(isinstance(value, np.ndarray) and value.size for value in values):
            continue
        first, second = (np.asarray(value) for value in values)
        bound = [
            name
            for name, value in ((one, first), (two, second))
            if not _is_free(value, uses_of(name, readers))
        ]
        if first.dtype != second.dtype or len(bound) == 2 or not _is_number(first.dtype):
            continue
        source = second if bound == [two] else first
        few = rng.choice(source.ravel(), _FEW)
        if min(first.size, second.size) == 1:
            few = few[:1]
        for name, value in ((one, first), (two, second)):
            places = rng.random(value.shape) < (_SHARED if value.size > 1 else 1.0)
            feed[name] = np.where(places, rng.choice(few, value.shape), value)


def _is_free(values: Array, uses: Sequence[Use]) -> bool:
    """Say whether an input may have any number, as one that is only added may."""
    if is_floating(values.dtype):
        return draws.is_free(values.shape, uses)
    return all(use.op in roles.ARITHMETIC and use.op != "Gather" for use in uses)


def _is_number(dtype: np.dtype[np.generic]) -> bool:
    return is_floating(dtype) or is_integer(dtype)


def _compares(use: Use) -> bool:
    return use.op in COMPARISONS and len(use.node.input) == 2


def _constant(node: onnx.NodeProto) -> Array | None:
    for name, dtype in (("value_int", np.int64), ("value_float", np.float64)):
        for attribute in (attribute_of(node, name), attribute_of(node, f"{name}s")):
            if attribute is not None:
                value = onnx.helper.get_attribute_value(attribute)
                return _finite(np.array(value, dtype=dtype))
    attribute = attribute_of(node, "value")
    return None if attribute is None else _numbers(attribute.t)


def _numbers(tensor: onnx.TensorProto) -> Array | None:
    external = tensor.data_location == onnx.TensorProto.EXTERNAL
    if external or prod(tensor.dims) > _MOST:
        return None
    if tensor.data_type in (onnx.TensorProto.INT32, onnx.TensorProto.INT64):
        return np.asarray(numpy_helper.to_array(tensor), dtype=np.int64)
    if not is_floating(numpy_dtype(tensor.data_type)):
        return None
    return _finite(np.asarray(numpy_helper.to_array(tensor), dtype=np.float64))


def _finite(array: Array) -> Array | None:
    return array if np.isfinite(array).all() else None
