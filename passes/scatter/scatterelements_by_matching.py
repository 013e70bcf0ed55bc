"""Replace ScatterElements with indices computed at run time by comparisons.

What it does: Compares every index with every position along the axis. Where an update hits a
    position, it is taken from there, the last one where several do; with a ``reduction`` all that
    hit are combined with the data.
Why engines need it: TensorRT has no scatter up to 8.0, and ignores the ``reduction`` from 8.2 to
    9.3.
Before: y = ScatterElements <axis = 1> (x, i, u)       x: [3, 5], i, u: [3, 2]
After:
    hits = Equal (Unsqueeze (i, 2), {0, 1, 2, 3, 4})         # [3, 2, 5]
    last = ArgMax <axis = 1> (Where (hits, {1, 2}, 0))       # [3, 5]
    hit = Equal (GatherElements (i, last), {0, 1, 2, 3, 4})
    y = Where (hit, GatherElements (u, last), x)
When it refuses:
    A size is unknown (of one index to a line, only whether the lines are those of the data; of a
    reduction, as of messages along the edges of a graph, all but the number of updates, which a sum
    or product of integers needs as well), the index is smaller than the data along another axis,
    more than 2**24 pairs would be compared (of an unknown number of updates, by 1,024 of them), or
    a ``reduction`` of other types than float and int32.
Accuracy: Exact: elements are moved. ONNX leaves it open which of two updates of one position stays;
    it is the last, as in onnxruntime. A reduction of integers wraps around as in the scatter (pairs
    are combined: ReduceSum and ReduceProd of onnxruntime go through float64), one of floats is
    exact up to the order of its sums and products; max and min give NaN for NaN, where a scatter
    may drop it.
References: https://onnx.ai/onnx/operators/onnx__ScatterElements.html;
    onnxruntime/core/providers/cpu/tensor/scatter.cc
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, combined, rewrite

from ._indices import axis_of, narrowed, reduction_of, same_dim, widened
from ._matching import EMITS, UPDATES, check_size, counted_from_start, last_match, reduced


@rewrite(
    ("ScatterElements", "Scatter"),
    removes=(
        "op:ScatterElements op:Scatter attr:ScatterElements.reduction=* dtype:ScatterElements.*"
    ),
    emits=(EMITS, "And Greater Range Shape"),
    since=9,
)
def scatterelements_by_matching(node: NodeView, build: Builder) -> Value:
    """Compare indices with positions, see the module."""
    data, index, updates = node.need(0), node.need(1), node.need(2)
    dims, wanted = data.shape, index.shape
    if dims is None or wanted is None or index.dtype is None:
        raise Refuse("the ranks of the data and of the index must be known")
    axis, rank = axis_of(node, len(dims)), len(dims)
    fits = all(
        same_dim(a, b) for d, (a, b) in enumerate(zip(dims, wanted, strict=True)) if d != axis
    )
    if not fits or 0 in wanted:
        raise Refuse("the index must cover the data along the other axes; it does not")
    reduction = reduction_of(node)
    wide, moved = widened(build, data, updates, reduction)
    if wanted[axis] == 1 and reduction == "none":
        result = build.Where(_single_hits(build, data, index, axis), moved, wide)
        return narrowed(build, result, data)
    count, size = index.dim(axis), data.dim(axis)
    rest = [dim for d, dim in enumerate(wanted) if d != axis and isinstance(dim, int)]
    open_count = count is None and reduction != "none"
    if size is None or len(rest) < rank - 1 or (count is None and not open_count):
        raise Refuse("the sizes of the data and of the index must be known")
    check_size(size, UPDATES if count is None else count, *rest)
    index = counted_from_start(build, index, size)
    places = np.arange(size, dtype=index.dtype)
    along = places.reshape([size if d == axis else 1 for d in range(rank)])
    across = places.reshape([size if d == axis + 1 else 1 for d in range(rank + 1)])
    hits = build.Equal(build.Unsqueeze(index, axes=[axis + 1]), build.constant(across))
    if reduction != "none":
        spread = build.Unsqueeze(moved, axes=[axis + 1])
        return reduced(build, reduction, wide, spread, hits, axis)
    assert count is not None  # only a reduction is looked at without
    if build.opset < 11:
        chosen, hit = _summed(build, hits, moved, axis, count)
    else:
        last = last_match(build, hits, count, axis)
        chosen = build.GatherElements(moved, last, axis=axis)
        there = build.GatherElements(index, last, axis=axis)
        hit = build.Equal(there, build.constant(along))
    return narrowed(build, build.Where(hit, chosen, wide), data)


def _single_hits(build: Builder, data: Value, index: Value, axis: int) -> Value:
    """Return where the one index of each line points, for sizes that may be open."""
    rank, size = data.rank or 1, data.dim(axis)
    spread = [d for d in range(rank) if d != axis]
    if size is not None:
        places = np.arange(size, dtype=index.dtype)
        along = build.constant(places.reshape([1 if d in spread else size for d in range(rank)]))
        return build.Equal(counted_from_start(build, index, size), along)
    sizes = build.Slice(build.Shape(data), starts=[axis], ends=[axis + 1], axes=[0])
    wide = build.Cast(index, to=TensorProto.INT64) if index.type_name != "int64" else index
    line = build.Range(np.int64(0), build.Squeeze(sizes, axes=[0]), np.int64(1))
    along = build.Unsqueeze(line, axes=spread) if spread else line
    return build.Equal(counted_from_start(build, wide, sizes), along)


def _summed(
    build: Builder, hits: Value, updates: Value, axis: int, count: int
) -> tuple[Value, Value]:
    """Return for each position the last update that hits it, and whether one does.

    Below opset 11, which brought GatherElements: all but one of the terms of a sum are 0.
    """
    if updates.dtype is None or updates.dtype.kind not in "if":
        raise Refuse(
            f"GatherElements must take the updates; at opset {build.opset} it does not take "
            f"{updates.type_name}"
        )
    last = build.Cast(last_match(build, hits, count, axis), to=TensorProto.INT32)
    shape = [count if d == axis else 1 for d in range(hits.rank or 0)]
    order = build.constant(np.arange(count, dtype=np.int32).reshape(shape))
    only = build.And(hits, build.Equal(build.Unsqueeze(last, axes=[axis]), order))
    zero = np.zeros((), updates.dtype)
    terms = build.Where(only, build.Unsqueeze(updates, axes=[axis + 1]), zero)
    counted = build.ReduceSum(build.Cast(only, to=TensorProto.FLOAT), axes=[axis], keepdims=0)
    if updates.dtype.kind == "i":
        total = combined("Add", terms, axis, count, build)
    else:
        total = build.ReduceSum(terms, axes=[axis], keepdims=0)
    return total, build.Greater(counted, 0)
