"""Write a product of matrices of which one holds a single value as Mul.

What it does: A row or column of length 1 times a constant of one element is that number times each
    number.
Why engines need it: pnnx takes a constant of one element for a number, not for a tensor, and leaves
    the product in its file: "layer torch.matmul not exists or registered".
Before: y = MatMul (x, k)                              # x: [2, 1], k: [1, 1], a constant
After: y = Mul (x, k)
When it refuses: Neither operand is a constant of one element, the other one is a vector or of
    unknown rank, or has fewer axes than the constant.
Accuracy: Exact: a sum of one product is that product.
References: https://onnx.ai/onnx/operators/onnx__MatMul.html
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_type, rewrite

_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)
_MATRIX = 2  # axes of a matrix


@rewrite("MatMul", removes="const:MatMul.one-number", emits="Mul", claims="nan inf")
def matmul_by_number_to_mul(node: NodeView, build: Builder) -> Value:
    """Multiply by the number, see the module."""
    for place in (1, 0):
        x, array = node.need(1 - place), build.const(node.need(place))
        if array is None or array.size != 1:
            continue
        need_type(x, _FLOATS)
        if x.rank is None or x.rank < max(_MATRIX, array.ndim) or array.ndim < _MATRIX:
            raise Refuse(
                f"{x.name} must have at least the rank of the constant, and both 2;"
                f" the ranks are {x.rank} and {array.ndim}"
            )
        return build.Mul(x, build.constant(np.array(array.reshape(-1)[0], x.dtype)))
    raise Refuse("an operand must be a constant of one element; none is")
