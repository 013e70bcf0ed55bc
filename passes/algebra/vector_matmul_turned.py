"""Multiply a vector by a matrix as the transposed matrix by the vector.

What it does: Exchanges the operands of MatMul where the first is a vector and the second a matrix,
    and transposes the matrix.
Why engines need it: onnx2tf takes a vector as the second operand of a matrix that is computed, and
    not as the first, nor a row that is made of it.
Before: y = MatMul (v, w)                              v: [3], w: [3, 4]
After: y = MatMul (Transpose <perm = [1, 0]> (w), v)
When it refuses: The ranks are unknown, or others than 1 and 2.
Accuracy: Exact up to the order of sums.
References: https://onnx.ai/onnx/operators/onnx__MatMul.html; onnx2tf 1.29.24, measured
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("MatMul", removes="rank:MatMul.1", emits="MatMul Transpose")
def vector_matmul_turned(node: NodeView, build: Builder) -> Value:
    """Exchange the operands, see the module."""
    vector, matrix = node.need(0), node.need(1)
    if (vector.rank, matrix.rank) != (1, 2):
        raise Refuse(f"the ranks must be 1 and 2; they are {vector.rank} and {matrix.rank}")
    return build.MatMul(build.Transpose(matrix, perm=[1, 0]), vector)
