"""Write a Concat with a constant at its ends as a sum with what is padded by zeros.

What it does: The other operands are padded with zeros where a constant is in front of them or
    after them, and the constant, of one batch and with zeros next to it, is added.
Why engines need it: ncnn leaves the batch out of what a Conv makes, and not out of a constant that
    is joined with it, such as the class token of a vision transformer whose sizes are fixed. A
    constant of one batch that is added is taken.
Before: y = Concat <axis = 1> (k, x)          # k: [2, 1, 16], twice the same; x: [2, 4, 16]
After: y = Add (Pad (x, {0, 1, 0, 0, 0, 0}, 0.0), l)       # l: [1, 5, 16], k and then zeros
When it refuses: No constant is at an end, it is joined along the first axis, its batches
    differ, a size of the others is not known, or the numbers are no floats.
Accuracy: Exact for numbers; a zero may come with the other sign.
References: measured on ncnn 1.0.20261020 and pnnx 20261020;
    https://onnx.ai/onnx/operators/onnx__Pad.html
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, need_type, needed, rewrite

_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)


@rewrite(
    "Concat", removes="form:Concat.constant", emits="Add Concat Pad", since=11, claims="nan inf"
)
def concat_constant_to_sum(node: NodeView, build: Builder) -> Value:
    """Pad with zeros and add, see the module."""
    operands = [value for value in node.inputs if value is not None]
    x = operands[0]
    need_type(x, _FLOATS)
    rank = x.rank
    if not rank or len(operands) != len(node.inputs):
        raise Refuse("the rank of the operands must be known")
    axis = int(node.attr("axis")) % rank
    if not axis:
        raise Refuse("the axis must not be the first; it is 0")
    front, after = _batch(operands[0], build), _batch(operands[-1], build)
    rest = operands[front is not None : len(operands) - (after is not None)]
    if (front is None and after is None) or not rest:
        raise Refuse("the first or last operand, and not all, must be a constant; that is not so")
    length = sum(_size(value, axis) for value in rest)
    y = rest[0] if len(rest) == 1 else build.Concat(*rest, axis=axis)
    pads = np.zeros(2 * rank, np.int64)
    pads[axis] = 0 if front is None else front.shape[axis]
    pads[rank + axis] = 0 if after is None else after.shape[axis]
    zero = build.constant(np.zeros((), x.dtype))
    y = build.Pad(y, build.constant(pads), zero, mode="constant")
    return build.Add(y, build.constant(_next_to_zeros(front, after, axis, length)))


def _batch(value: Value, build: Builder) -> Array | None:
    """Return one batch of a constant, or None where it is computed.

    Raises:
        Refuse: Its batches differ.
    """
    array = build.const(value)
    if array is None or not array.size:
        return None
    batch = array[:1]
    if any(array[i : i + 1].tobytes() != batch.tobytes() for i in range(1, array.shape[0])):
        raise Refuse(f"the batches of {value.name} must be the same; they differ")
    return batch


def _size(value: Value, axis: int) -> int:
    sizes = needed(value.static_shape, f"the sizes of {value.name} must be known")
    return sizes[axis]


def _next_to_zeros(front: Array | None, after: Array | None, axis: int, length: int) -> Array:
    """Return constants of one batch with zeros between or next to them."""
    given = front if front is not None else after
    assert given is not None
    shape = [*given.shape]
    shape[axis] = length
    parts = [front, np.zeros(shape, given.dtype), after]
    return np.concatenate([part for part in parts if part is not None], axis)
