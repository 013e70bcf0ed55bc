"""Tensors that an engine computes when it reads a model whose sizes are fixed."""

from __future__ import annotations

from collections.abc import Generator

from graphfix.analysis.memo import kept_stepwise
from graphfix.ir.views import NodeView, Value

_SIZES = frozenset({"Shape", "Size"})
_DRAWN = frozenset({"RandomNormal", "RandomUniform"})


@kept_stepwise(in_a_loop=True)
def known_with_sizes(value: Value) -> Generator[Value, bool, bool]:
    """Say whether a tensor follows from constants and from sizes of tensors alone.

    Args:
        value: The tensor; types and shapes of the model are inferred.
    """
    if value.is_constant:
        return True
    maker = value.producer
    if maker is None or maker.op in _DRAWN:
        return False
    if any(True for _ in maker.node.graphs()):  # subgraphs read tensors around them
        return False
    if maker.op in _SIZES:
        measured = maker.input(0)
        return measured is not None and measured.static_shape is not None
    given = [operand for operand in maker.inputs if operand is not None]
    for operand in given:
        if not (yield operand):
            return False
    return bool(given)


def are_known_with_sizes(node: NodeView) -> bool:
    """Say whether all that a node gives follows so, and none of it is what a graph gives."""
    outputs = [value for value in node.outputs if value is not None]
    return bool(outputs) and all(
        known_with_sizes(value) and not value.is_graph_output for value in outputs
    )
