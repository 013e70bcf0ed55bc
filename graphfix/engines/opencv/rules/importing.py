"""What the importer of OpenCV computes itself: all that hangs on constants and fixed sizes."""

from __future__ import annotations

from graphfix.authoring.views import NodeView, Value

_DEEPEST = 40


def is_known_at_import(value: Value | None, depth: int = _DEEPEST) -> bool:
    """Say whether a tensor hangs on constants and on shapes with fixed sizes alone.

    Args:
        value: The tensor; None for an input that is left out.
        depth: How many nodes are followed upwards.
    """
    if value is None or value.is_constant:
        return True
    maker = value.producer
    if maker is None or not depth:
        return False
    if maker.op in ("Shape", "Size"):
        source = maker.input(0)
        return source is not None and source.static_shape is not None
    return all(is_known_at_import(operand, depth - 1) for operand in maker.inputs)


def is_computed_at_import(node: NodeView) -> bool:
    """Say whether all inputs of a node are known when the importer reads it."""
    return all(is_known_at_import(value) for value in node.inputs)
