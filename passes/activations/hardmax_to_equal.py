"""Write Hardmax as a comparison with the place of the largest element.

What it does: Compares the numbers 0, 1, ... along the axis with the place of the first largest
    element.
Why engines need it: TensorRT has Hardmax from 9.3 on.
Before: y = Hardmax <axis = 1> (x)
After: y = Cast (Equal (ArgMax <axis = 1> (x), [[0, 1, ...]]))
When it refuses: The size along the axis or the element type are unknown; below opset 13, where axes
    are joined, another axis than the last.
Accuracy: Exact: of equal elements the first counts. NaN is not treated.
References: https://onnx.ai/onnx/operators/onnx__Hardmax.html; operators.md of onnx-tensorrt,
    release 8.6
"""

from math import prod

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, needed, rewrite


@rewrite("Hardmax", removes="op:Hardmax", emits="ArgMax Cast Equal Reshape")
def hardmax_to_equal(node: NodeView, build: Builder) -> Value:
    """Compare with the place of the largest element, see the module."""
    x = node.need(0)
    if x.rank is None or not x.elem_type:
        raise Refuse(f"the rank and the dtype of {x.name} must be known")
    joined = node.opset < 13
    axis = int(node.attr("axis", 1 if joined else -1)) % x.rank
    if not joined or axis == x.rank - 1:
        return _hits(x, axis, x.rank, x.dim(axis), build)
    sizes = needed(x.static_shape, f"the sizes of {x.name} must be known where axes are joined")
    rows, row = prod(sizes[:axis]), prod(sizes[axis:])
    joint = build.Reshape(x, np.array([rows, row], np.int64))
    return build.Reshape(_hits(joint, 1, 2, row, build), np.array(sizes, np.int64))


def _hits(x: Value, axis: int, rank: int, size: int | None, build: Builder) -> Value:
    if not size:
        raise Refuse(f"the size of {x.name} along axis {axis} must be known and not 0")
    places = np.arange(size, dtype=np.int64)
    places = places.reshape([-1 if i == axis else 1 for i in range(rank)])
    largest = build.ArgMax(x, axis=axis, keepdims=1)
    return build.Cast(build.Equal(largest, places), to=x.elem_type)
