"""Take FusedMatMul apart.

What it does:
    Writes com.microsoft::FusedMatMul (and TransposeMatMul, its older name) as Transpose of the
    operands that it transposes, MatMul, and Mul by alpha where that is not 1.

Why engines need it:
    They are operators of onnxruntime's optimiser; other engines do not know them.

Before:
    y = com.microsoft.FusedMatMul <alpha = 0.125, transB = 1> (a, b)

After:
    y = Mul (MatMul (a, Transpose (b)), 0.125)

When it refuses:
    Batch axes are transposed, or the rank of an operand that is transposed, or the dtype, is
    unknown.

Accuracy:
    Exact up to rounding.

References:
    microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.FusedMatMul
"""

from __future__ import annotations

from collections.abc import Sequence

from graphfix.authoring import Builder, InferredType, NodeView, Refuse, Value, rewrite
from graphfix.passes.contrib._typing import need_float


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """The type of the operands; the shape where neither is a vector and one is a matrix."""
    a, b = node.input(0), node.input(1)
    if a is None or b is None or not a.elem_type:
        return (None,)
    if a.shape is None or b.shape is None or min(len(a.shape), len(b.shape)) != 2:
        return (InferredType(a.elem_type),)
    rows = a.shape[-1 if node.attr("transA", 0) else -2]
    columns = b.shape[-2 if node.attr("transB", 0) else -1]
    batch = a.shape[:-2] or b.shape[:-2]
    return (InferredType(a.elem_type, (*batch, rows, columns)),)


@rewrite(
    ("com.microsoft::FusedMatMul", "com.microsoft::TransposeMatMul"),
    removes="op:com.microsoft::FusedMatMul op:com.microsoft::TransposeMatMul",
    emits="MatMul Mul Transpose",
    infer=infer,
)
def fused_matmul_to_matmul(node: NodeView, build: Builder) -> Value:
    """Write the product, see the module."""
    need_float(node.need(0))
    if node.attr("transBatchA", 0) or node.attr("transBatchB", 0):
        raise Refuse("batch axes must stay where they are; they are transposed")
    operands: list[Value] = []
    for index, name in enumerate(("transA", "transB")):
        value = node.need(index)
        if node.attr(name, 0):
            if value.rank is None:
                raise Refuse(f"the rank of {value.name} must be known")
            if value.rank > 1:  # vectors stay as they are
                order = [*range(value.rank - 2), value.rank - 1, value.rank - 2]
                value = build.Transpose(value, perm=order)
        operands.append(value)
    result = build.MatMul(*operands)
    alpha = float(node.attr("alpha", 1.0))
    return result if alpha == 1 else build.Mul(result, alpha)
