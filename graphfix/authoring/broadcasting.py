"""Which axes operands of different shapes share, as opsets below 7 want it written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphfix.ir.graph import Shape
from graphfix.ir.views import Array, Refuse, Value
from graphfix.operators.table import COMMUTES

BROADCAST = "broadcast"

Operand = Value | Array | np.generic | int | float | bool | Sequence[int] | None


def spread(op: str, version: int, inputs: list[Operand], written: dict[str, Any]) -> None:
    """Write which axes operands of different shapes share, which opsets below 7 do not work out.

    Raises:
        Refuse: They have no form for these shapes: the second operand alone is broadcast, where it
            is one element or has the last axes of the first, and no more axes.
    """
    first, second = map(_shape_of, inputs)
    if _is_one_element(first) and not _is_one_element(second) and op in COMMUTES:
        inputs.reverse()
        first, second = second, first
    if second == () != first:
        written[BROADCAST] = 1
        return
    known = first is not None and second is not None and None not in second
    if not known or not _spreads(second or (), first or ()):
        raise Refuse(
            f"{op} of opset {version} broadcasts a second operand of the last axes of the "
            "first alone; that of these operands is not known"
        )
    if first != second:
        written[BROADCAST] = 1


def _spreads(shape: Shape, over: Shape) -> bool:
    """Say whether opsets below 7 broadcast a shape to another one."""
    if len(shape) > len(over):
        return False
    return _is_one_element(shape) or over[len(over) - len(shape) :] == shape


def _shape_of(operand: Operand) -> Shape | None:
    if isinstance(operand, Value):
        return operand.shape
    return None if operand is None else np.shape(operand)


def _is_one_element(shape: Shape | None) -> bool:
    return shape is not None and all(size == 1 for size in shape)
