"""Replace ScatterND on a block of constant indices by Slice and Concat.

What it does:
Where the index tuples are the elements of a block (a contiguous range along each axis that they
name, in row-major order), as an assignment to a slice is exported, the data around the block is
sliced off and put together with the updates, axis by axis. A ``reduction`` combines the updates
with the block sliced out.
Why engines need it:
TensorRT has no scatter up to 7.2, and ScatterND only as a plugin in 8.0; up to 9.3 it ignores the
``reduction``.
Before: y = ScatterND (x, [[0, 2], [0, 3], [1, 2], [1, 3]], updates)
After:
    u = Reshape (updates, [2, 2, 4])
    a = Slice (x, [0], [2], [1])
    b = Slice (x, [4], [6], [1])
    y = Concat <axis = 1> (a, u, b)
When it refuses:
Indices computed at run time, out of range, twice the same, or no block in row-major order; unknown
rank of the data; negative indices along an axis of unknown size; a ``reduction`` of bools.
Accuracy:
Exact: values are moved, and combined once where there is a ``reduction``;
Max and Min give NaN for NaN, where a scatter may drop it. An axis of unknown size
that turns out shorter than its indices is an error before and gives another shape after.

References:
https://onnx.ai/onnx/operators/onnx__ScatterND.html; NVIDIA/TensorRT issues 805, 1350, 1457;
onnx/onnx-tensorrt 7.x builtin_op_importers.cpp (no importer).
"""

import math

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, reshaping, rewrite

from ._indices import Array, combined, grid, known_shape, reduction_of, regrouped, rows_of

_END = np.iinfo(np.int64).max


@rewrite(
    "ScatterND",
    removes="op:ScatterND attr:ScatterND.reduction* dtype:ScatterND.* shape:ScatterND.*",
    emits=(reshaping.EMITS, "Add Concat Max Min Mul Shape Slice"),
    since=11,
)
def scatternd_to_slice_concat(node: NodeView, build: Builder) -> Value:
    """Return the data with the block replaced by the updates."""
    data, updates = node.need(0), node.need(2)
    dims = known_shape(data)
    rows = rows_of(build.need_const(node.need(1), "the index"), dims)
    block = _block(rows)
    sizes = [end - start for start, end in block]
    values = regrouped(build, updates, sizes, data, len(block))
    partial = [axis for axis, (start, end) in enumerate(block) if (start, end) != (0, dims[axis])]
    reduction = reduction_of(node)

    def assemble(around: Value, axes: list[int]) -> Value:
        if not axes:
            return combined(build, reduction, around, values)
        axis, later = axes[0], axes[1:]
        start, end = block[axis]
        pieces: list[Value] = []
        if start > 0:
            pieces.append(build.Slice(around, starts=[0], ends=[start], axes=[axis]))
        inside = around
        if later or reduction != "none":
            inside = build.Slice(around, starts=[start], ends=[end], axes=[axis])
        pieces.append(assemble(inside, later))
        size = dims[axis]
        if not isinstance(size, int) or end < size:
            stop = size if isinstance(size, int) else _END
            pieces.append(build.Slice(around, starts=[end], ends=[stop], axes=[axis]))
        return build.Concat(*pieces, axis=axis)

    return assemble(data, partial)


def _block(rows: Array) -> list[tuple[int, int]]:
    """Return start and end along each axis of the block that the rows enumerate."""
    if not len(rows):
        raise Refuse("there must be indices; there are none")
    lows: list[int] = rows.min(axis=0).tolist()
    highs: list[int] = rows.max(axis=0).tolist()
    ranges = [range(low, high + 1) for low, high in zip(lows, highs, strict=True)]
    if math.prod(map(len, ranges)) == len(rows) and np.array_equal(grid(ranges), rows):
        return [(each.start, each.stop) for each in ranges]
    raise Refuse("the indices must be a block in row-major order; they are not")
