"""What is known once shapes are: for engines that load a model for the sizes of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from graphfix.authoring.views import NodeView, Value
from graphfix.operators.table import RANDOM

# Operators that give sizes of a tensor, and those whose sizes depend on numbers.
_MEASURES = frozenset({"Shape", "Size"})
_COUNTS = frozenset({"Compress", "NonMaxSuppression", "NonZero", "Unique"})
# Operators that pick, join and multiply sizes.
_ARRANGES = frozenset(
    {"Cast", "Concat", "Gather", "Identity", "Mul", "Slice", "Squeeze", "Unsqueeze"}
)


def of_shapes_alone(value: Value) -> bool:
    """Say whether a value follows from constants and from the shapes of what is fed.

    The size of a tensor that numbers decide on, such as what NonZero finds, does not.
    """
    for found in _behind(value, _measures):
        maker = found.producer
        if found.is_constant:
            continue
        if maker is None or maker.op in RANDOM or any(True for _ in maker.node.graphs()):
            return False  # bodies read tensors around them
        if _measures(found) and not _is_sized_early(maker.need(0)):
            return False
    return True


def gives_shapes_alone(node: NodeView) -> bool:
    """Say whether all that a node gives follows so, and none of it is what a graph gives."""
    outputs = [value for value in node.outputs if value is not None]
    return bool(outputs) and all(
        of_shapes_alone(value) and not value.is_graph_output for value in outputs
    )


def sized_with(value: Value, data: Value) -> bool:
    """Say whether a value is made of constants and sizes, all of which `data` has a part in.

    Numbers may decide on these sizes, but only such as decide on the sizes of `data` too.
    """
    known = _counts(data)
    for found in _behind(value, _measures):
        maker = found.producer
        if found.is_constant:
            continue
        if maker is None or maker.domain:
            return False
        if _measures(found):
            if not _counts(maker.need(0)) <= known:
                return False
        elif maker.op not in _ARRANGES:
            return False
    return True


def counted_late(value: Value) -> bool:
    """Say whether numbers that are fed decide on how many elements a value has."""
    return not _is_sized(value) and not _is_sized_early(value)


def is_made_of(value: Value, op: str) -> bool:
    """Say whether an operator of ONNX has a part in a value."""
    makers = (found.producer for found in _behind(value, lambda _: False))
    return any(maker is not None and maker.op == op and not maker.domain for maker in makers)


def _measures(value: Value) -> bool:
    maker = value.producer
    return maker is not None and maker.op in _MEASURES and not maker.domain


def _is_sized_early(value: Value) -> bool:
    """Say whether numbers that are fed have no part in the sizes of a tensor."""
    return not _counts(value)


def _counts(value: Value) -> frozenset[int]:
    """Return the tensors, by identity, whose count numbers decide on and that size a tensor."""
    return frozenset(
        id(found.tensor)
        for found in _behind(value, _is_sized)
        for maker in (found.producer,)
        if maker is not None and maker.op in _COUNTS and not maker.domain and not _is_sized(found)
    )


def _is_sized(value: Value) -> bool:
    return value.shape is not None and all(isinstance(size, int) for size in value.shape)


def _behind(value: Value, ends: Callable[[Value], bool]) -> Iterator[Value]:
    """Walk a value and what it is computed of, each once, up to constants and where it ends."""
    front, seen = [value], {id(value.tensor)}
    while front:
        found = front.pop()
        yield found
        maker = found.producer
        if found.is_constant or maker is None or ends(found):
            continue
        for operand in maker.inputs:
            if operand is not None and id(operand.tensor) not in seen:
                seen.add(id(operand.tensor))
                front.append(operand)
