"""Keeping one triangle of matrices, shared by triu and tril."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value
from graphfix.passes.aten._arguments import ArrayCall, call_of

SCHEMA = ("self", "diagonal")
EMITS = "And Mul Trilu Where"
LARGEST_MASK = 1 << 22


def keep_triangle(node: NodeView, build: Builder, name: str, *, upper: bool) -> Value:
    """Return the matrices with the other triangle set to zero.

    Raises:
        Refuse: The diagonal is computed at run time, rank or dtype are unknown, or the size is
            dynamic below opset 14.
    """
    call = call_of(node, {name: SCHEMA})
    x = call.need("self")
    diagonal = int(call.number("diagonal", 0))
    if x.rank is None or x.rank < 2 or not x.elem_type:
        raise Refuse(f"the rank of {x.name} must be at least 2 and its dtype known")
    rows, columns = x.dim(-2), x.dim(-1)
    if rows is None or columns is None or rows * columns > LARGEST_MASK:
        if build.opset < 14:
            raise Refuse(
                "the opset must be at least 14, which has Trilu, or the size known and small; "
                f"the opset is {build.opset}"
            )
        return build.Trilu(x, np.array(diagonal, dtype=np.int64), upper=int(upper))
    mask = triangle(rows, columns, diagonal, upper=upper)
    if x.elem_type == TensorProto.BOOL:
        return build.And(x, mask)
    zero = np.zeros((), dtype=x.dtype)
    if build.opset >= 9:
        return build.Where(build.constant(mask), x, zero)
    return build.Mul(x, mask.astype(x.dtype))


def triangle(rows: int, columns: int, diagonal: int, *, upper: bool) -> Array:
    """Return which elements are kept, [rows, columns] of bool."""
    away = np.arange(columns)[None, :] - np.arange(rows)[:, None]
    return away >= diagonal if upper else away <= diagonal


def evaluate_triangle(
    inputs: list[Array | None], attributes: dict[str, Any], *, upper: bool
) -> tuple[Array, ...]:
    """Keep a triangle with numpy."""
    call = ArrayCall(inputs, attributes, SCHEMA)
    cut = np.triu if upper else np.tril
    return (cut(call.need("self"), int(call.number("diagonal", 0))),)
