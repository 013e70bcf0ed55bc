"""Multiply a vector by matrices as a matrix of one row.

What it does: Gives a vector that is the first operand of MatMul a row axis, and one that is the
    second a column axis, and drops them from the result.
Why engines need it: TensorRT 8 and 9 broadcast a vector to the rank of the other operand and
    squeeze the wrong axis of the result; they fail, or, with one matrix, give the right values in
    the wrong shape.
Before: y = MatMul (v, w)                  v: [4], w: [B, 4, 3]
After: y = Squeeze <axes = {-2}> (MatMul (Unsqueeze <axes = {0}> (v), w))
When it refuses: A rank is unknown.
Accuracy: Exact: it is how MatMul is defined.
References: https://onnx.ai/onnx/operators/onnx__MatMul.html; builtin_op_importers.cpp:2905-2915 of
    onnx-tensorrt, release 8.6
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("MatMul", removes="rank:MatMul.1", emits="MatMul Squeeze Unsqueeze", claims="nan inf")
def matmul_vector_to_matrix(node: NodeView, build: Builder) -> Value:
    """Promote and drop the axes, see the module."""
    first, second = node.need(0), node.need(1)
    if first.rank is None or second.rank is None:
        raise Refuse("the ranks of the operands must be known")
    row, column = first.rank == 1, second.rank == 1
    if not row and not column:
        raise Refuse("an operand must be a vector; none is")
    rank = max(first.rank, second.rank, 2)
    product = build.MatMul(
        build.Unsqueeze(first, axes=[0]) if row else first,
        build.Unsqueeze(second, axes=[1]) if column else second,
    )
    return build.Squeeze(product, axes=[rank - 2] * row + [rank - 1] * column)
