"""Write the gradients of Softmax and LogSoftmax as sums and products.

What it does: Of Softmax takes what comes from the end, less its sum weighted by the chances, times
    the chances; of LogSoftmax what comes from the end, less the chances times its sum. The forms
    without _13 sum over all axes from theirs on, as Softmax did up to opset 12.
Why engines need it: onnxruntime's training writes these operators into the models that it makes;
    only a build of onnxruntime for training has kernels for them.
Before: dx = com.microsoft.SoftmaxGrad_13 <axis = -1> (dy, y)
After: dx = Mul (y, Sub (dy, ReduceSum <keepdims = 1> (Mul (y, dy), [-1])))
When it refuses: An operand is not known to be of floats, its rank is unknown, or it has no such
    axis.
Accuracy: Exact up to rounding; float16 and bfloat16 are computed in float32.
References: microsoft/onnxruntime orttraining/orttraining/core/graph/training_op_defs.cc and
    orttraining/orttraining/training_ops/cpu/op_gradients.cc
"""

from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, rewrite

from ._means import like, wide
from ._typing import need_float

_NAMES = tuple(
    f"com.microsoft::{name}"
    for name in ("SoftmaxGrad_13", "LogSoftmaxGrad_13", "SoftmaxGrad", "LogSoftmaxGrad")
)
_OLD_AXIS, _AXIS = 1, -1


def _axes(op: str, axis: int | None, rank: int) -> list[int]:
    """Return the axes of the sum; empty where there is no such axis."""
    wanted = axis if axis is not None else _AXIS if op.endswith("_13") else _OLD_AXIS
    first = wanted + rank if wanted < 0 else wanted
    if not 0 <= first < rank:
        return []
    return [first] if op.endswith("_13") else list(range(first, rank))


def numbers(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Compute in float64; `attributes` has the operator."""
    dy, y = inputs[0], inputs[1]
    assert dy is not None, "its page wants it"
    assert y is not None, "its page wants it"
    op = str(attributes["operator"])
    axes = tuple(_axes(op, attributes.get("axis"), y.ndim))
    after, found = dy.astype(np.float64), y.astype(np.float64)
    if op.startswith("Log"):
        result = after - np.exp(found) * after.sum(axes, keepdims=True)
    else:
        result = found * (after - (found * after).sum(axes, keepdims=True))
    return (np.asarray(result).astype(dy.dtype),)


@rewrite(_NAMES, emits="Cast Exp Mul ReduceSum Sub", evaluate=numbers)
def softmax_gradients_to_arithmetic(node: NodeView, build: Builder) -> Value:
    """Write the sum and the products, see the module."""
    dy, y = node.need(0), node.need(1)
    need_float(dy)
    need_float(y)
    rank = y.rank or dy.rank
    if not rank:
        raise Refuse(f"the rank of {y.name} must be known")
    axes = _axes(node.op, node.attr("axis", None), rank)
    if not axes:
        raise Refuse(f"the axis must be one of {rank}; it is {node.attr('axis', _OLD_AXIS)}")
    after, found = wide(build, dy), wide(build, y)
    if node.op.startswith("Log"):
        total = build.ReduceSum(after, axes=axes, keepdims=1)
        return like(build, dy, build.Sub(after, build.Mul(build.Exp(found), total)))
    total = build.ReduceSum(build.Mul(found, after), axes=axes, keepdims=1)
    return like(build, dy, build.Mul(found, build.Sub(after, total)))
