"""Choose between numbers of many dimensions in a row.

What it does: Writes the operands of Where as rows by a Reshape, and the result in its dimensions
    again. A constant is repeated before; one number stays as it is.
Why engines need it: rknn-toolkit2 ends its process on Where of five dimensions and more.
Before: y = Where (c, 0, x)                            # x: [2, 3, 4, 5, 6]
After: y = Reshape (Where (Reshape (c, {720}), 0, Reshape (x, {720})), {2, 3, 4, 5, 6})
When it refuses: There are fewer than five dimensions, or a size is open or 0; an operand that is
    computed is repeated along an axis.
Accuracy: Exact: numbers are moved.
References: https://onnx.ai/onnx/operators/onnx__Where.html; measured in the simulator of
    rknn-toolkit2 2.3.2
"""

import math

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_LEAST, _MOST = 5, 8
_NUMBERS = 2**24  # of a constant that is repeated


@rewrite(
    "Where",
    removes=" ".join(f"rank:Where.{rank}" for rank in range(_LEAST, _MOST + 1)),
    emits="Reshape Where",
    since=9,
    claims="nan inf",
)
def where_of_one_dimension(node: NodeView, build: Builder) -> Value:
    """Choose in a row, see the module."""
    result = node.output(0)
    sizes = None if result is None else result.static_shape
    if sizes is None or 0 in sizes:
        raise Refuse("the sizes must be known and none of them 0")
    if len(sizes) < _LEAST:
        raise Refuse(f"there must be {_LEAST} dimensions or more; there are {len(sizes)}")
    rows = [_row(node.need(place), sizes, build) for place in range(3)]
    return build.Reshape(build.Where(*rows), list(sizes))


def _row(value: Value, sizes: tuple[int, ...], build: Builder) -> Value:
    shape, count = value.static_shape, math.prod(sizes)
    if shape == sizes:
        return build.Reshape(value, [count])
    if shape is not None and math.prod(shape) == 1:
        return value if len(shape) <= 1 else build.Reshape(value, [1])
    array = value.array()
    if array is None or count > _NUMBERS:
        raise Refuse(f"{value.name} must be a constant, one number, or of the shape of the result")
    return build.constant(np.broadcast_to(array, sizes).reshape(-1))
