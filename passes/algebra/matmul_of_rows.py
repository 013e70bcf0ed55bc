"""Multiply the rows of a tensor of many dimensions by a constant matrix as one matrix.

What it does: Reshapes the first operand of MatMul to a matrix of all its rows, and the product
    back. Leading dimensions of 1 of the constant are dropped.
Why engines need it: QNN leaves the product of a tensor of five dimensions by a constant to the CPU.
Before:
    y = MatMul (x, k)                          with x: float[2,2,3,4,5] and k: constant float[5,6]
After: y = Reshape (MatMul (Reshape (x, {48, 5}), k), {2, 2, 3, 4, 6})
When it refuses: The second operand is no constant matrix, or one of several batches; the first has
    less than three dimensions, one that is open, or one of 0.
Accuracy: Exact: the same products are summed.
References: https://numpy.org/doc/stable/reference/generated/numpy.matmul.html; measured with
    onnxruntime-qnn 2.7.0
"""

from math import prod

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_FEWEST = 3


@rewrite("MatMul", removes="rank:MatMul.5", emits="MatMul Reshape", claims="nan inf")
def matmul_of_rows(node: NodeView, build: Builder) -> Value:
    """Multiply one matrix of all rows, see the module."""
    first, second = node.need(0), node.need(1)
    known = build.need_const(second, "the second operand")
    sizes = first.static_shape
    if sizes is None or 0 in sizes:
        raise Refuse(f"the sizes of {first.name} must be known and none of them 0")
    if len(sizes) < _FEWEST:
        raise Refuse(f"{first.name} must have {_FEWEST} dimensions; it has {len(sizes)}")
    if known.ndim < 2 or known.ndim > len(sizes) or prod(known.shape[:-2]) != 1:
        raise Refuse(f"{second.name} must be one matrix; its shape is {list(known.shape)}")
    by = second
    if known.ndim > 2:
        by = build.constant(np.ascontiguousarray(known.reshape(known.shape[-2:])))
    rows = build.Reshape(first, [prod(sizes[:-1]), sizes[-1]])
    return build.Reshape(build.MatMul(rows, by), [*sizes[:-1], known.shape[-1]])
