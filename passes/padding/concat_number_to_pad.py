"""Write a Concat with constants of one element at its ends as a Pad.

What it does: A constant in front of the other operands, or after them, of which all numbers are
    the same, becomes padding by that number.
Why engines need it: pnnx takes a constant of one element for a number, not for a tensor, and leaves
    it in its file: "layer pnnx.Expression not exists or registered".
Before: y = Concat <axis = -1> (k, x)                  # k: [1, 1], a constant of 2.0; x: [1, 3]
After: y = Pad <mode = "constant"> (x, {0, 1, 0, 0}, 2.0)
When it refuses: No constant is at an end, its values differ, or its size along the axis is not
    known; the type is one that Pad does not have in the opset.
Accuracy: Exact: the same values.
References: https://onnx.ai/onnx/operators/onnx__Pad.html
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, need_type, rewrite

_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)


@rewrite(
    "Concat", removes="const:Concat.one-number", emits="Concat Pad", since=11, claims="nan inf"
)
def concat_number_to_pad(node: NodeView, build: Builder) -> Value:
    """Pad by what is at the ends, see the module."""
    operands = [value for value in node.inputs if value is not None]
    x = operands[0]
    need_type(x, _FLOATS)
    rank = x.rank
    if not rank or len(operands) != len(node.inputs):
        raise Refuse("the rank of the operands must be known")
    axis = int(node.attr("axis")) % rank
    front, after = _number(operands[0], build), _number(operands[-1], build)
    rest = operands[front is not None : len(operands) - (after is not None)]
    if (front is None and after is None) or not rest:
        raise Refuse(
            "the first or last operand, and not all, must repeat one value; that is not so"
        )
    y = rest[0] if len(rest) == 1 else build.Concat(*rest, axis=axis)
    for place, constant in ((axis, front), (rank + axis, after)):
        if constant is not None:
            pads = np.zeros(2 * rank, np.int64)
            pads[place] = constant.shape[axis]
            number = build.constant(np.array(constant.reshape(-1)[0], x.dtype))
            y = build.Pad(y, build.constant(pads), number, mode="constant")
    return y


def _number(value: Value, build: Builder) -> Array | None:
    """Return a constant of which all numbers are the same, or None."""
    array = build.const(value)
    if array is None or not array.size:
        return None
    first = array.reshape(-1)[0]
    return array if np.array_equal(array, np.full_like(array, first), equal_nan=True) else None
