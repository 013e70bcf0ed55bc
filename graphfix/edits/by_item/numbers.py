"""Operators on integers that depend on the number of items, computed on all of them at once."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product as pairs
from typing import Any, cast

import numpy as np
from onnx import TensorProto

from graphfix.edits.by_item.known import Known, Numbers, Operation
from graphfix.edits.by_item.linear import Linear, UndecidedError

MOST = 4096  # numbers in a tensor that are followed

# The least and the largest integer of each type that numbers are followed in.
RANGES: dict[int, tuple[int, int]] = {
    TensorProto.INT64: (-(1 << 63), (1 << 63) - 1),
    TensorProto.INT32: (-(1 << 31), (1 << 31) - 1),
    TensorProto.INT16: (-(1 << 15), (1 << 15) - 1),
    TensorProto.INT8: (-(1 << 7), (1 << 7) - 1),
    TensorProto.UINT64: (0, (1 << 64) - 1),
    TensorProto.UINT32: (0, (1 << 32) - 1),
    TensorProto.UINT16: (0, (1 << 16) - 1),
    TensorProto.UINT8: (0, (1 << 8) - 1),
    TensorProto.BOOL: (0, 1),
}
# Up to here a type of floats has every integer.
_EXACT: dict[int, int] = {
    TensorProto.FLOAT16: 1 << 11,
    TensorProto.BFLOAT16: 1 << 8,
    TensorProto.FLOAT: 1 << 24,
    TensorProto.DOUBLE: 1 << 53,
}


def kind_name(kind: int) -> str:
    """Return the name of an element type, such as ``int16``."""
    return (
        dict(zip(TensorProto.DataType.values(), TensorProto.DataType.keys(), strict=True))
        .get(cast("TensorProto.DataType", kind), "a type")
        .lower()
    )


def array_of(values: Any) -> Numbers:
    """Return integers as numbers that are the same for every number of items."""
    given = np.asarray(values)
    found = np.empty(given.shape, object)
    for place in np.ndindex(given.shape):
        found[place] = Linear(0, int(given[place]))
    return found


def shape_numbers(operation: Operation) -> Known:
    """Shape: the sizes of what it reads."""
    sizes = operation.sizes(0)
    rank = len(sizes)
    start, end = operation.attribute("start", 0), operation.attribute("end", rank)
    return Known(numbers=_vector(list(sizes[slice(*slice(start, end).indices(rank))])))


def _vector(sizes: list[Linear]) -> Numbers:
    found = np.empty(len(sizes), object)
    for place, size in enumerate(sizes):
        found[place] = size
    return found


def _each(function: Callable[..., Linear], *arrays: Numbers) -> Numbers:
    """Compute element by element, with shapes that are brought together as numpy does."""
    wide = np.broadcast_arrays(*arrays)
    found = np.empty(wide[0].shape, object)
    for place in np.ndindex(found.shape):
        found[place] = function(*(each[place] for each in wide))
    return found


def _unknown(*values: Linear) -> bool:
    """Say whether a result is not known, but the same for every number of items."""
    return all(each.fixed for each in values) and any(each.base is None for each in values)


def _comparing(decide: Callable[[Linear, Linear], bool]) -> Callable[[Linear, Linear], Linear]:
    def compared(one: Linear, other: Linear) -> Linear:
        return Linear(0, None) if _unknown(one, other) else Linear(0, int(decide(one, other)))

    return compared


def _greater(one: Linear, other: Linear) -> Linear:
    if _unknown(one, other):
        return Linear(0, None)
    return one if one.sign_of_difference(other) >= 0 else other


def _less(one: Linear, other: Linear) -> Linear:
    if _unknown(one, other):
        return Linear(0, None)
    return one if one.sign_of_difference(other) <= 0 else other


def _mod(one: Linear, other: Linear) -> Linear:
    if _unknown(one, other):
        return Linear(0, None)
    divisor = other.known()
    if not divisor or one.base is None:
        raise UndecidedError("takes the remainder by a number that is not known")
    if one.slope % divisor:
        raise UndecidedError(f"takes the remainder of the size by {divisor}", (divisor,))
    return Linear(0, one.base % divisor)


def _chosen(condition: Linear, one: Linear, other: Linear) -> Linear:
    decided = condition.known()
    if decided is None:
        if one == other:
            return one
        if one.fixed and other.fixed:
            return Linear(0, None)
        raise UndecidedError("chooses a size by what is not known")
    return one if decided else other


def _negated(one: Linear) -> Linear:
    return Linear(0, 0) - one


def _inverted(one: Linear) -> Linear:
    return Linear(0, None if one.base is None else 1 - one.base)


def _sign(*wanted: int) -> Callable[[Linear, Linear], Linear]:
    return _comparing(lambda one, other: one.sign_of_difference(other) in wanted)


_ELEMENTWISE: dict[str, Callable[..., Linear]] = {
    "Add": Linear.__add__,
    "Sub": Linear.__sub__,
    "Mul": Linear.__mul__,
    "Div": Linear.divided,
    "Mod": _mod,
    "Neg": _negated,
    "Max": _greater,
    "Min": _less,
    "Equal": _comparing(lambda one, other: not one.differs(other)),
    "Greater": _sign(1),
    "GreaterOrEqual": _sign(0, 1),
    "Less": _sign(-1),
    "LessOrEqual": _sign(-1, 0),
    "Where": _chosen,
    "Not": _inverted,
}
_MOVING = frozenset(
    {"Concat", "Gather", "Identity", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"}
)
FOLLOWED = frozenset({*_ELEMENTWISE, *_MOVING, "Cast", "Expand"})


def computed(operation: Operation) -> Numbers | None:
    """Return what a node computes from integers; None where the operator is not followed.

    Raises:
        UndecidedError: It depends on the number of items in a way that is not followed.
    """
    op = operation.node.op_type
    given = [None if each is None else each.numbers for each in operation.inputs]
    arrays = [each for each in given if each is not None]
    if len(arrays) != sum(each is not None for each in operation.inputs) or not arrays:
        return None
    if op in ("Max", "Min"):
        found = arrays[0]
        for each in arrays[1:]:
            found = _each(_ELEMENTWISE[op], found, each)
        return found
    if op == "Mod" and operation.attribute("fmod", 0):
        return None
    if op in _ELEMENTWISE:
        return _each(_ELEMENTWISE[op], *arrays)
    if op == "Cast":
        return _cast(arrays[0], int(operation.attribute("to", 0)))
    if op in _MOVING:
        return _moved(operation, op, arrays)
    return None


def _cast(numbers: Numbers, to: int) -> Numbers | None:
    """Cast; what a type cannot hold is found by `limit_of`."""
    if to in RANGES and to != TensorProto.BOOL:
        return numbers
    if all(each.fixed for each in numbers.flat):
        return None
    name = kind_name(to)
    slopes = [abs(each.slope) for each in numbers.flat if each.slope]
    near = (_EXACT[to] // max(slopes),) if to in _EXACT else ()
    raise UndecidedError(f"makes {name} of the size", near)


def limit_of(numbers: Numbers, kind: int) -> int:
    """Return up to how many items numbers fit into an integer type; 0 where they do not at all."""
    least, largest = RANGES[kind]
    limit = largest
    for each in numbers.flat:
        if each.base is None:
            continue
        first = each.slope + each.base
        if not least <= (each.base if each.fixed else first) <= largest:
            return 0
        if each.slope > 0:
            limit = min(limit, (largest - each.base) // each.slope)
        elif each.slope < 0:
            limit = min(limit, (each.base - least) // -each.slope)
    return max(limit, 0)


def _moved(operation: Operation, op: str, arrays: list[Numbers]) -> Numbers:
    data = arrays[0]
    if op == "Identity":
        return data
    if op == "Concat":
        axis = operation.axis("axis", 0, data.ndim)
        return np.concatenate(arrays, axis=axis)
    if op == "Transpose":
        return np.transpose(data, operation.attribute("perm", None))
    if op == "Reshape":
        sizes = operation.integers(1)
        if any(each == 0 for each in sizes):
            raise UndecidedError("reshapes numbers by a size of zero")
        return data.reshape(sizes)
    if op == "Gather":
        axis = operation.axis("axis", 0, data.ndim)
        picked = np.array(operation.integers(1), np.int64).reshape(arrays[1].shape)
        return np.asarray(_object(np.take(data, picked, axis=axis)))
    if op == "Slice":
        return data[_cut(operation, data.ndim)]
    axes = operation.axes(1, data.ndim + _more(operation, data), 13)
    if op == "Squeeze":
        return np.squeeze(data, None if axes is None else tuple(sorted(axes)))
    assert axes is not None, "Unsqueeze has axes"
    return np.expand_dims(data, tuple(sorted(axes)))


def _object(value: Any) -> Numbers:
    found = np.empty(np.shape(value), object)
    found[()] = value
    return found


def _more(operation: Operation, data: Numbers) -> int:
    if operation.node.op_type != "Unsqueeze":
        return 0
    if operation.opset >= 13:
        return len(operation.integers(1))
    return len(operation.attribute("axes", ()))


def _cut(operation: Operation, rank: int) -> tuple[slice, ...]:
    if operation.opset < 10:
        starts = list(operation.attribute("starts", ()))
        ends = list(operation.attribute("ends", ()))
        axes = list(operation.attribute("axes", range(len(starts))))
        steps = [1] * len(starts)
    else:
        starts, ends = operation.integers(1), operation.integers(2)
        axes = operation.integers(3) if operation.has(3) else list(range(len(starts)))
        steps = operation.integers(4) if operation.has(4) else [1] * len(starts)
    cuts = [slice(None)] * rank
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        stop = None if step < 0 and end < -(1 << 30) else end
        cuts[axis % rank] = slice(start, stop, step)
    return tuple(cuts)


def filled(sizes: list[int], value: int) -> Numbers | None:
    """Return a tensor of one element; None where it is large."""
    if int(np.prod(sizes, dtype=np.int64)) > MOST:
        return None
    found = np.empty(sizes, object)
    for place in pairs(*(range(size) for size in sizes)):
        found[place] = Linear(0, value)
    return found
