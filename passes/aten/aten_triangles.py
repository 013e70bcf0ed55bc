"""Keep one triangle of matrices with a constant mask.

What it does: Replaces tril and triu by Where with a constant mask of the matrix size (And for bool,
    Mul below opset 9, which has no Where), and by Trilu where the size is dynamic.
Why engines need it: ONNX had no triangle before opset 14, and exporters wrote an ATen node.
Before: y = ATen <operator = "tril"> (x, 1)            # x: float[3, 4]
After:
    y = Where (mask, x, 0)                          # mask: bool[3, 4], true on and below diagonal 1
When it refuses: The diagonal is computed at run time, rank or dtype are unknown, or the matrix size
    is dynamic (or above four million elements) below opset 14.
Accuracy: Exact, and bit by bit from opset 9 on. Below it an infinity or NaN in the other triangle
    stays NaN.
References: pytorch/pytorch aten/src/ATen/native/TriangularOps.cpp;
    https://onnx.ai/onnx/operators/onnx__Where.html; https://onnx.ai/onnx/operators/onnx__Trilu.html
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, rewrite

from ._arguments import ArrayCall, call_of, features, matching

SCHEMA = ("self", "diagonal")
_EMITS = "And Mul Trilu Where"
_LARGEST_MASK = 1 << 22


def _keep(node: NodeView, build: Builder, name: str, *, upper: bool) -> Value:
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
    if rows is None or columns is None or rows * columns > _LARGEST_MASK:
        if build.opset < 14:
            raise Refuse(
                "the opset must be at least 14, which has Trilu, or the size known and small; "
                f"the opset is {build.opset}"
            )
        return build.Trilu(x, np.array(diagonal, dtype=np.int64), upper=int(upper))
    mask = _triangle(rows, columns, diagonal, upper=upper)
    if x.elem_type == TensorProto.BOOL:
        return build.And(x, mask)
    zero = np.zeros((), dtype=x.dtype)
    if build.opset >= 9:
        return build.Where(build.constant(mask), x, zero)
    return build.Mul(x, mask.astype(x.dtype))


def _triangle(rows: int, columns: int, diagonal: int, *, upper: bool) -> Array:
    """Return which elements are kept, [rows, columns] of bool."""
    away = np.arange(columns)[None, :] - np.arange(rows)[:, None]
    return away >= diagonal if upper else away <= diagonal


def _evaluate(
    inputs: list[Array | None], attributes: dict[str, Any], *, upper: bool
) -> tuple[Array, ...]:
    """Keep a triangle with numpy."""
    call = ArrayCall(inputs, attributes, SCHEMA)
    cut = np.triu if upper else np.tril
    return (cut(call.need("self"), int(call.number("diagonal", 0))),)


def evaluate_tril(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Use numpy."""
    return _evaluate(inputs, attributes, upper=False)


@rewrite(
    matching(("tril",)),
    removes=features(("tril",)),
    emits=_EMITS,
    evaluate=evaluate_tril,
)
def aten_tril(node: NodeView, build: Builder) -> Value:
    """Keep the lower triangle of matrices with a constant mask."""
    return _keep(node, build, "tril", upper=False)


def evaluate_triu(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Use numpy."""
    return _evaluate(inputs, attributes, upper=True)


@rewrite(
    matching(("triu",)),
    removes=features(("triu",)),
    emits=_EMITS,
    evaluate=evaluate_triu,
)
def aten_triu(node: NodeView, build: Builder) -> Value:
    """Keep the upper triangle of matrices with a constant mask."""
    return _keep(node, build, "triu", upper=True)
