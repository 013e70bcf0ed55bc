"""Take FusedMatMul apart.

What it does: Writes com.microsoft::FusedMatMul (and TransposeMatMul, its older name) as Transpose
    of the operands that it transposes, MatMul, and Mul by alpha where that is not 1;
    FusedMatMulActivation with its activation after it. Where batch axes are transposed, the first
    axis goes after them first.
Why engines need it: They are operators of onnxruntime's optimiser; other engines do not know them.
Before: y = com.microsoft.FusedMatMul <alpha = 0.125, transB = 1> (a, b)
After: y = Mul (MatMul (a, Transpose (b)), 0.125)
When it refuses: The rank of an operand that is transposed, or the dtype, is unknown; the activation
    is none that onnxruntime fuses, or lacks a parameter.
Accuracy: Exact up to rounding.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.FusedMatMul,
    com.microsoft.FusedMatMulActivation
"""

from typing import Any

import numpy as np

from graphfix.authoring import (
    Array,
    Builder,
    NodeView,
    Refuse,
    Value,
    need_rank,
    rewrite,
)

from . import _activation as activation
from ._typing import need_float

_ACTIVATED = "com.microsoft::FusedMatMulActivation"
_PARAMETERS = ("alpha", "beta", "gamma")


@rewrite(
    ("com.microsoft::FusedMatMul", "com.microsoft::TransposeMatMul"), emits="MatMul Mul Transpose"
)
def fused_matmul_to_matmul(node: NodeView, build: Builder) -> Value:
    """Write the product, see the module."""
    return _product(node, build)


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Multiply and activate in float64."""
    a, b = inputs[:2]
    assert a is not None  # the schema wants both
    assert b is not None
    turned: list[Array] = []
    for x, side in ((a, "A"), (b, "B")):
        order = _order(x.ndim, attributes.get(f"trans{side}"), attributes.get(f"transBatch{side}"))
        turned.append(x.astype(np.float64).transpose(order))
    total = float(attributes.get("alpha", 1.0)) * (turned[0] @ turned[1])
    name = str(attributes["activation"])
    if name == "Softmax":
        axis = int(attributes.get("activation_axis", -1))
        grown = np.exp(total - total.max(axis=axis, keepdims=True))
        return ((grown / grown.sum(axis=axis, keepdims=True)).astype(a.dtype),)
    given = [
        float(attributes[key]) for p in _PARAMETERS if (key := f"activation_{p}") in attributes
    ]
    return (activation.evaluated(total, name, given).astype(a.dtype),)


@rewrite(
    _ACTIVATED,
    emits=(activation.EMITS, "MatMul Mul Softmax Transpose"),
    evaluate=evaluate,
)
def fused_matmul_activation_to_matmul(node: NodeView, build: Builder) -> Value:
    """Take FusedMatMulActivation apart: the product and its activation."""
    result = _product(node, build)
    name = str(node.attr("activation", ""))
    if name != "Softmax":
        by_name = activation.by_name
        return activation.activated(build, result, name, lambda names: by_name(node, names))
    axis = int(node.attr("activation_axis", -1))
    if build.opset < 13 and axis != -1 and (result.rank is None or axis != result.rank - 1):
        raise Refuse(f"Softmax must be over the last axis below opset 13; it is over {axis}")
    return build.Softmax(result, axis=axis if build.opset >= 11 else (result.rank or 0) - 1)


def _product(node: NodeView, build: Builder) -> Value:
    need_float(node.need(0))
    operands: list[Value] = []
    for index, side in enumerate("AB"):
        value = node.need(index)
        turned, batches = (int(node.attr(f"{name}{side}", 0)) for name in ("trans", "transBatch"))
        if turned or batches:
            rank = need_rank(value)
            if rank > 1:  # vectors stay as they are
                value = build.Transpose(value, perm=_order(rank, turned, batches))
        operands.append(value)
    result = build.MatMul(*operands)
    alpha = float(node.attr("alpha", 1.0))
    return result if alpha == 1 else build.Mul(result, alpha)


def _order(rank: int, turned: object, batches: object) -> list[int]:
    """Return the order of axes: the first goes after the batches, the last two change places."""
    order = list(range(rank))
    if batches and rank > 2:
        order = [*range(1, rank - 1), 0, rank - 1]
    if turned and rank > 1:
        order = [*order[:-2], order[-1], order[-2]]
    return order
