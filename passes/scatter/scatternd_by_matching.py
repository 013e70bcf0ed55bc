"""Replace ScatterND with indices computed at run time by comparisons.

What it does: The axes that the index tuples address are joined into one, each tuple becomes the
    number of a row of it, and every such number is compared with every row. A row that is hit is
    taken from the updates, the last one where several hit it; with a ``reduction`` all of them are
    combined with the data.
Why engines need it: TensorRT has no scatter up to 8.0, and ignores or refuses the ``reduction``
    from 8.2 on.
Before: y = ScatterND (x, i, u)            x: [6, 4], i: [2, 1], u: [2, 4]
After:
    hits = Equal (i, {0, 1, 2, 3, 4, 5})                     # [2, 6]
    last = ArgMax <axis = 0> (Where (hits, {{1}, {2}}, 0))   # [6]
    hit = Equal (Gather (Squeeze (i), last), {0, 1, 2, 3, 4, 5})
    y = Where (Unsqueeze (hit), Gather (u, last), x)
When it refuses: A size is unknown other than one that is addressed after axes of size 1, more than
    2**24 pairs would be compared, or a ``reduction`` of other types than float and int32.
Accuracy: Exact: elements are moved. ONNX leaves it open which of two updates of one row stays; it
    is the last, as in onnxruntime. A reduction of integers wraps around as in the scatter, one of
    floats is exact up to the order of its sums and products; max and min give NaN for NaN, where a
    scatter may drop it.
References: https://onnx.ai/onnx/operators/onnx__ScatterND.html;
    onnxruntime/core/providers/cpu/tensor/scatter_nd.cc
"""

from math import prod

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._indices import narrowed, reduction_of, widened
from ._matching import EMITS, check_size, counted_from_start, last_match, reduced


@rewrite(
    "ScatterND",
    removes="op:ScatterND attr:ScatterND.reduction=* dtype:ScatterND.*",
    emits=(EMITS, "Range Reshape Shape Slice"),
    since=11,
)
def scatternd_by_matching(node: NodeView, build: Builder) -> Value:
    """Compare rows, see the module."""
    data, index, updates = node.need(0), node.need(1), node.need(2)
    wanted = index.static_shape
    if data.rank is None or data.shape is None or wanted is None or 0 in wanted:
        raise Refuse("the rank of the data and the sizes of the index must be known")
    length, count = wanted[-1], prod(wanted[:-1])
    sizes = [data.dim(axis) for axis in range(length)]
    rest = [data.dim(axis) for axis in range(length, data.rank)]
    fixed_rest = [size for size in rest if size is not None]
    known = [size for size in sizes if size is not None]
    if len(fixed_rest) < len(rest) or 0 in fixed_rest or 0 in known:
        raise Refuse("the sizes of the rows must be known and not 0")
    total = prod(known) if len(known) == length else None
    check_size(count, total or 1)
    reduction = reduction_of(node)
    wide, moved = widened(build, data, updates, reduction)
    flat = build.Reshape(wide, [-1, *fixed_rest])
    rows = build.Reshape(moved, [count, *fixed_rest])
    numbers = _row_numbers(build, data, index, sizes, count)
    places = _places(build, flat, total, numbers)
    hits = build.Equal(build.Unsqueeze(numbers, axes=[1]), build.Unsqueeze(places, axes=[0]))
    inner = list(range(1, 1 + len(rest)))
    if reduction != "none":
        check_size(count, total or 1, *fixed_rest)
        spread = build.Unsqueeze(rows, axes=[1])
        wide_hits = build.Unsqueeze(hits, axes=[a + 1 for a in inner]) if inner else hits
        result = reduced(build, reduction, flat, spread, wide_hits, 0)
    else:
        last = last_match(build, hits, count, 0)
        hit = build.Equal(build.Gather(numbers, last, axis=0), places)
        hit = build.Unsqueeze(hit, axes=inner) if inner else hit
        result = build.Where(hit, build.Gather(rows, last, axis=0), flat)
    if data.static_shape is not None:
        result = build.Reshape(result, list(data.static_shape))
    elif length > 1:
        result = build.Reshape(result, build.Shape(wide))
    return narrowed(build, result, data)


def _row_numbers(
    build: Builder, data: Value, index: Value, sizes: list[int | None], count: int
) -> Value:
    """Return the number of the row that each tuple addresses: [count]."""
    tuples = build.Reshape(index, [count, len(sizes)])
    numbers: Value | None = None
    for place, size in enumerate(sizes):
        if size == 1 and (numbers is not None or place < len(sizes) - 1):
            continue  # the only index there is 0
        if size is None and numbers is not None:
            raise Refuse(f"the size of axis {place} must be known")
        column = build.Slice(tuples, starts=[place], ends=[place + 1], axes=[1])
        column = build.Squeeze(column, axes=[1])
        column = counted_from_start(build, column, _size(build, data, place))
        numbers = column if numbers is None else build.Add(build.Mul(numbers, size), column)
    if numbers is None:
        raise Refuse("the index tuples must not be empty; they are")
    return numbers


def _size(build: Builder, data: Value, axis: int) -> int | Value:
    known = data.dim(axis)
    if known is not None:
        return known
    return build.Slice(build.Shape(data), starts=[axis], ends=[axis + 1], axes=[0])


def _places(build: Builder, flat: Value, total: int | None, numbers: Value) -> Value:
    if total is not None:
        return build.constant(np.arange(total, dtype=numbers.dtype))
    size = build.Slice(build.Shape(flat), starts=[0], ends=[1], axes=[0])
    return build.Range(np.int64(0), build.Squeeze(size, axes=[0]), np.int64(1))
