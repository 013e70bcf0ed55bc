"""Sequences and optionals, evaluated as lists and None: no engine takes those of two types."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from onnx import NodeProto

from graphfix.errors import EngineFailed
from graphfix.proving.values.kinds import Array, Value

Like = Callable[[Value, Value], Value]


def of_containers(node: NodeProto, values: Sequence[Value], like: Like) -> list[Value] | None:
    """Return what a node gives that makes or opens a container; None for any other node.

    Args:
        node: The node.
        values: Its operands.
        like: Gives a value in the type that holds it and another value.

    Raises:
        EngineFailed: There is no such element.
    """
    if node.domain not in ("", "ai.onnx"):
        return None
    first = values[0] if values else None
    match node.op_type:
        case "SequenceEmpty":
            return [[]]
        case "SequenceConstruct":
            return [_alike(values, like)]
        case "SequenceInsert":
            elements, place = _list(first), values[2] if len(values) > 2 else None
            at = len(elements) if place is None else _number(place)
            at = at + len(elements) if at < 0 else at
            return [_alike([*elements[:at], values[1], *elements[at:]], like)]
        case "Optional":
            return [first]
        case "OptionalGetElement":
            if first is None:
                raise EngineFailed("the optional is empty")
            return [first]
        case "OptionalHasElement":
            return [np.array(first is not None)]
        case _:
            return None


def _alike(values: Sequence[Value], like: Like) -> list[Array]:
    """Return tensors in the type that holds those of all."""
    arrays = list(values)
    for place, value in enumerate(arrays):
        for other in values:
            value = like(value, other)
        arrays[place] = value
    return [np.asarray(value) for value in arrays]


def _list(value: Value) -> list[Array]:
    if not isinstance(value, list):
        raise EngineFailed("a sequence is no list")
    return [np.asarray(each) for each in value]


def _number(value: Value) -> int:
    return int(np.asarray(value).reshape(-1)[0])
