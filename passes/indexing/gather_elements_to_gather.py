"""Replace GatherElements by Gather over flattened data.

What it does: The data is laid out as one vector; each index becomes the number of an element of it,
    by adding where the other axes are. Negative indices count from the end.
Why engines need it: TensorRT has an importer for GatherElements from 8.0 on, with sizes known.
Before: y = GatherElements <axis = 1> (x, i)        x: [3, 4], i: [3, 2]
After: y = Gather (Reshape (x, {-1}), Add (i, {{0, 0}, {4, 4}, {8, 8}}))
When it refuses: A rank is unknown or they differ, or the index has more than 2**22 elements, as far
    as is known.
Accuracy: Exact: elements are moved.
References: https://onnx.ai/onnx/operators/onnx__GatherElements.html
"""

from math import prod

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Size,
    Value,
    along,
    counted,
    from_front,
    offset,
    rewrite,
    size_of,
    sum_of,
    times,
)

_MAX_OFFSETS = 1 << 22


@rewrite(
    "GatherElements",
    removes=(
        "op:GatherElements dtype:GatherElements.* shape:GatherElements.* rank:GatherElements.*"
    ),
    emits="Add Cast Gather Less Mul Range Reshape Shape Where",
    since=11,
)
def gather_elements_to_gather(node: NodeView, build: Builder) -> Value:
    """Gather from a vector, see the module."""
    data, index = node.need(0), node.need(1)
    rank = data.rank
    if rank is None or index.rank is None or index.dtype is None:
        raise Refuse("the ranks and the dtype of the index must be known")
    if not rank or index.rank != rank:
        raise Refuse(f"the index must have the rank {rank} of the data; it has {index.rank}")
    if prod(index.dim(axis) or 1 for axis in range(rank)) > _MAX_OFFSETS:
        raise Refuse(f"the index must have at most {_MAX_OFFSETS} elements; it has more")
    chosen = int(node.attr("axis", 0)) % rank
    # The last axis is looked at first, since its elements lie next to each other.
    stride: Size = 1
    rows: Value | None = None
    for axis in reversed(range(rank)):
        if axis == chosen:
            entries = from_front(index, data, axis, build)
        elif index.dim(axis) == 1:
            entries = None  # all of them are 0
        else:
            entries = along(counted(index, axis, build), axis, rank, build)
        if entries is not None:
            rows = sum_of(rows, offset(entries, stride, build), build)
        if axis:
            stride = times(stride, size_of(data, axis, build), build)
    assert rows is not None
    return build.Gather(build.Reshape(data, [-1]), rows, axis=0)
