"""Repeat the batches of a constant operand of MatMul.

What it does: Writes the constant out in the batches of the product, so that nothing is left to be
    repeated.
Why engines need it: OpenCV multiplies by the batches of a constant one after the other, and reads
    others where one of them is to be repeated: [2,2,3,4] by a constant [2,1,4,5] is wrong without a
    word.
Before: y = MatMul (x, k)        with x: float[2,2,3,4] and k: constant float[2,1,4,5]
After: y = MatMul (x, k2)       with k2: constant float[2,2,4,5]
When it refuses: The second operand is no constant of more than two dimensions; the batches of the
    first are open; the constant would hold more than sixteen million numbers.
Accuracy: Exact: the same products are summed in the same order.
References: https://onnx.ai/onnx/operators/onnx__MatMul.html;
    https://numpy.org/doc/stable/reference/generated/numpy.matmul.html
"""

from math import prod

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_MOST = 1 << 24


@rewrite("MatMul", removes="shape:MatMul.constant-batch", emits="MatMul", claims="nan inf")
def matmul_constant_batch(node: NodeView, build: Builder) -> Value:
    """Repeat the constant, see the module."""
    first, second = node.need(0), node.need(1)
    known = build.need_const(second, "the second operand")
    if known.ndim < 3:
        raise Refuse(f"{second.name} must have batches; it has {known.ndim} dimensions")
    shape = first.shape
    if shape is None or len(shape) < 2:
        raise Refuse(f"the shape of {first.name} must be known and have two dimensions")
    batches = shape[:-2]
    if not all(isinstance(size, int) for size in batches):
        raise Refuse(f"the batches of {first.name} must be known")
    try:
        wanted = np.broadcast_shapes(tuple(map(int, map(str, batches))), known.shape[:-2])
    except ValueError:
        raise Refuse(
            f"the batches of {first.name} and {second.name} must broadcast;"
            f" they are {list(batches)} and {list(known.shape[:-2])}"
        ) from None
    full = (*wanted, *known.shape[-2:])
    if prod(full) > _MOST:
        raise Refuse(f"the constant must hold {_MOST} numbers at most; it is {prod(full)}")
    if full == known.shape:
        raise Refuse(f"{second.name} must lack batches; it has all")
    return build.MatMul(first, np.ascontiguousarray(np.broadcast_to(known, full)))
