"""Tensors that hold dequantized bytes."""

from __future__ import annotations

from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import MOVES_FIRST

_BYTES = ("int8", "uint8")


def dequantizer_of(value: Value) -> tuple[NodeView | None, list[NodeView]]:
    """Return the DequantizeLinear of 8 bits whose results a tensor holds, and what moves them.

    Returns:
        The node, None where there is none, and the nodes that move its results, the last one first.
    """
    moves: list[NodeView] = []
    maker = value.producer
    while maker is not None and not maker.domain and maker.op in MOVES_FIRST:
        moves.append(maker)
        maker = maker.need(0).producer
    if maker is None or maker.domain or maker.op != "DequantizeLinear":
        return None, moves
    return (maker if maker.need(0).type_name in _BYTES else None), moves
