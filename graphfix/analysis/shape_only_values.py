"""What is known once shapes are: for engines that load a model for the sizes of its inputs."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

from graphfix.analysis.memo import kept_stepwise
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import RANDOM

_Item = TypeVar("_Item", Value, str)

# Operators that give sizes of a tensor, and those whose sizes depend on numbers.
_MEASURES = frozenset({"Shape", "Size"})
_COUNTS = frozenset({"Compress", "NonMaxSuppression", "NonZero", "Unique"})
# Operators that pick, join and multiply sizes.
_ARRANGES = frozenset(
    {"Cast", "Concat", "Gather", "Identity", "Mul", "Slice", "Squeeze", "Unsqueeze"}
)
_NONE: frozenset[Value] = frozenset()
_NO_OPERATOR: frozenset[str] = frozenset()


@kept_stepwise(in_a_loop=True)
def of_shapes_alone(value: Value) -> Generator[Value, bool, bool]:
    """Say whether a value follows from constants and from the shapes of what is fed.

    The size of a tensor that numbers decide on, such as what NonZero finds, does not.
    """
    if value.is_constant:
        return True
    maker = value.producer
    if maker is None or maker.op in RANDOM or any(True for _ in maker.node.graphs()):
        return False  # subgraphs read tensors around them
    if _measures(maker):
        return _is_sized_early(maker.need(0))
    for operand in maker.inputs:
        if operand is not None and not (yield operand):
            return False
    return True


@kept_stepwise(in_a_loop=True)
def of_fixed_shapes(value: Value) -> Generator[Value, bool, bool]:
    """Say whether a value that follows from shapes alone does so from shapes that are known."""
    maker = value.producer
    if maker is None:
        return True
    if _measures(maker):
        return maker.need(0).static_shape is not None
    for operand in maker.inputs:
        if operand is not None and not (yield operand):
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
    counts = _counts_of_sizes(value)
    return counts is not None and counts <= counts_of(data)


def counted_late(value: Value) -> bool:
    """Say whether numbers that are fed decide on how many elements a value has."""
    return not _is_sized(value) and not _is_sized_early(value)


def _measures(maker: NodeView) -> bool:
    return maker.op in _MEASURES and not maker.domain


def _is_sized_early(value: Value) -> bool:
    """Say whether numbers that are fed have no part in the sizes of a tensor."""
    return not counts_of(value)


@kept_stepwise(in_a_loop=_NONE)
def counts_of(value: Value) -> Generator[Value, frozenset[Value], frozenset[Value]]:
    """Return the tensors whose count numbers decide on, and that size a tensor."""
    maker = value.producer
    if maker is None or value.is_constant or _is_sized(value):
        return _NONE
    found = frozenset({value}) if maker.op in _COUNTS and not maker.domain else _NONE
    for operand in maker.inputs:
        if operand is not None:
            found = _joined(found, (yield operand))
    return found


@kept_stepwise(in_a_loop=_NONE)
def _counts_of_sizes(
    value: Value,
) -> Generator[Value, frozenset[Value] | None, frozenset[Value] | None]:
    """Return what counts for the sizes that a value is made of; None where it is of more."""
    if value.is_constant:
        return _NONE
    maker = value.producer
    if maker is None or maker.domain:
        return None
    if _measures(maker):
        return counts_of(maker.need(0))
    if maker.op not in _ARRANGES:
        return None
    found = _NONE
    for operand in maker.inputs:
        if operand is not None:
            more = yield operand
            if more is None:
                return None
            found = _joined(found, more)
    return found


def _joined(one: frozenset[_Item], other: frozenset[_Item]) -> frozenset[_Item]:
    """Return a union, as one of both where it is that: long ways hold one set then."""
    if other <= one:
        return one
    return other if one <= other else one | other


def _is_sized(value: Value) -> bool:
    return value.static_shape is not None


@kept_stepwise(in_a_loop=_NO_OPERATOR)
def _operators(value: Value) -> Generator[Value, frozenset[str], frozenset[str]]:
    """Return the operators of ONNX that have a part in a value."""
    maker = value.producer
    if maker is None:
        return _NO_OPERATOR
    found = _NO_OPERATOR if maker.domain else frozenset({maker.op})
    for operand in () if value.is_constant else maker.inputs:
        if operand is not None:
            found = _joined(found, (yield operand))
    return found


def is_made_of(value: Value, op: str) -> bool:
    """Say whether an operator of ONNX has a part in a value."""
    return op in _operators(value)
