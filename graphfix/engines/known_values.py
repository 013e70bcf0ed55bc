"""Tensors that an engine computes when it reads a model whose sizes are fixed."""

from __future__ import annotations

from graphfix.authoring.views import NodeView, Value

_SIZES = frozenset({"Shape", "Size"})
_MOST = 200  # nodes that are looked at
_DRAWN = frozenset({"RandomNormal", "RandomUniform"})


def known_with_sizes(value: Value) -> bool:
    """Say whether a tensor follows from constants and from sizes of tensors alone.

    Args:
        value: The tensor; types and shapes of the model are inferred.
    """
    pending, seen = [value], {value}
    while pending:
        one = pending.pop()
        if one.is_constant:
            continue
        maker = one.producer
        if maker is None or maker.op in _DRAWN or len(seen) > _MOST:
            return False
        if any(True for _ in maker.node.graphs()):  # bodies read tensors around them
            return False
        if maker.op in _SIZES:
            measured = maker.input(0)
            if measured is None or measured.static_shape is None:
                return False
            continue
        given = [operand for operand in maker.inputs if operand is not None]
        if not given:
            return False
        pending += [operand for operand in given if operand not in seen]
        seen.update(given)
    return True


def are_known_with_sizes(node: NodeView) -> bool:
    """Say whether all that a node gives follows so, and none of it is what a graph gives."""
    outputs = [value for value in node.outputs if value is not None]
    return bool(outputs) and all(
        known_with_sizes(value) and not value.is_graph_output for value in outputs
    )
