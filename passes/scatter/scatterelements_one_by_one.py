"""Replace ScatterElements with few computed indices by writing one update after the other.

What it does:
    Compares each index with every position along the axis, and chooses there between the update and
    what is there, for one place of the updates along the axis after the other. With a
    ``reduction`` it is what both make that is chosen.
Why engines need it: ncnn has no scatter, no ArgMax and no Gather by several indices, which
    scatterelements-by-matching needs to find the last of two updates.
Before: y = ScatterElements <axis = 1> (x, i, u)       x: [3, 5], i, u: [3, 2]
After:
    t = Where (Equal (Slice (i, 0, 1), {0, 1, 2, 3, 4}), Slice (u, 0, 1), x)
    y = Where (Equal (Slice (i, 1, 2), {0, 1, 2, 3, 4}), Slice (u, 1, 2), t)
When it refuses: A size is unknown, the index is smaller than the data along another axis, or there
    are more updates along the axis than ``max_rounds``.
Accuracy: Exact: elements are moved, and combined in the order of the updates; of two that go to one
    place the last stays, as in onnxruntime. NaN under max and min is what the operators Max and Min
    make of it.
References: https://onnx.ai/onnx/operators/onnx__ScatterElements.html;
    onnxruntime/core/providers/cpu/tensor/scatter.cc; measured on ncnn 1.0.20261020
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Option, Refuse, Value, rewrite

from ._indices import axis_of, combined, narrowed, reduction_of, widened
from ._matching import counted_from_start


@rewrite(
    ("ScatterElements", "Scatter"),
    removes="op:ScatterElements op:Scatter attr:ScatterElements.reduction=*",
    emits="Add Cast Equal Less Max Min Mul Slice Where",
    since=9,
    last_resort=True,
    options={"max_rounds": Option(int, 32, "More updates along the axis are refused.")},
)
def scatterelements_one_by_one(node: NodeView, build: Builder) -> Value:
    """Write one update after the other, see the module."""
    data, index, updates = node.need(0), node.need(1), node.need(2)
    sizes, wanted = data.static_shape, index.static_shape
    if sizes is None or wanted is None or index.dtype is None:
        raise Refuse("the sizes of the data and of the index must be known")
    axis = axis_of(node, len(sizes))
    if any(a != b for d, (a, b) in enumerate(zip(sizes, wanted, strict=True)) if d != axis):
        raise Refuse("the index must cover the data along the other axes; it does not")
    count, most = wanted[axis], build.option("max_rounds")
    if not 1 <= count <= most:
        raise Refuse(f"there must be 1 to {most} updates along the axis; there are {count}")
    reduction = reduction_of(node)
    result, moved = widened(build, data, updates, reduction)
    index = counted_from_start(build, index, sizes[axis])
    along = [sizes[axis] if d == axis else 1 for d in range(len(sizes))]
    places = build.constant(np.arange(sizes[axis], dtype=index.dtype).reshape(along))
    for turn in range(count):
        hit = build.Equal(_one(build, index, axis, turn), places)
        update = _one(build, moved, axis, turn)
        result = build.Where(hit, combined(build, reduction, result, update), result)
    return narrowed(build, result, data)


def _one(build: Builder, values: Value, axis: int, turn: int) -> Value:
    if values.dim(axis) == 1:
        return values
    return build.Slice(values, starts=[turn], ends=[turn + 1], axes=[axis])
