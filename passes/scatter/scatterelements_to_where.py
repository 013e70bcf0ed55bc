"""Replace ScatterElements and Scatter with constant indices by Where.

What it does:
A constant mask says which elements are written, a constant map which update goes there; Gather
spreads the updates over the shape of the data, and Where chooses. Indices that depend on nothing
but their place along the axis, and cover the other axes, as assignments to a row or column are
exported, need a mask and a map along that axis only; those may be an Expand of a constant to
sizes that are known at run time. A ``reduction`` combines the spread updates with the data first;
several updates to one element take several rounds. Bools and narrow integers are moved as int32,
for few engines have a Where or Gather of those.
Why engines need it: TensorRT has no scatter up to 8.0, and ignores the ``reduction`` from 8.2 to
    9.3.
Before: y = ScatterElements <axis = 1> (x, [[2], [2], [2]], updates)
After: y = Where ([[false, false, true, false, false]], updates, x)
When it refuses:
Indices computed at run time, out of range, or twice the same along the axis without a
``reduction`` (ONNX does not say which write stays), or more than eight times with one; a
``reduction`` of bools or narrow integers; unknown shape of the data, unless only its size along
the axis matters; a mask of more than ``max_elements``.
Accuracy:
Exact: values are moved, and with a ``reduction`` combined one update after the other, in their
order. NaN under max and min is what the operators Max and Min make of it.

References:
https://onnx.ai/onnx/operators/onnx__ScatterElements.html, onnx__Scatter.html;
onnx/onnx-tensorrt 7.x and 8.0 builtin_op_importers.cpp (no importer); NVIDIA/TensorRT issue 3464.
"""

import math

import numpy as np

from graphfix.authoring import Builder, NodeView, Option, Refuse, Value, rewrite

from ._indices import (
    Array,
    axis_of,
    element_positions,
    fixed,
    known_shape,
    narrowed,
    normalised,
    reduction_of,
    same_dim,
    widened,
)
from ._masking import MAX_ELEMENTS, broadcast_write, masked_write, refuse_large


@rewrite(
    ("ScatterElements", "Scatter"),
    removes=(
        "op:ScatterElements op:Scatter attr:ScatterElements.reduction* dtype:ScatterElements.* "
        "dtype:Scatter.* rank:ScatterElements shape:ScatterElements.* shape:Scatter.*"
    ),
    emits="Add Cast Gather Max Min Mul Reshape Where",
    since=9,
    options={"max_elements": Option(int, MAX_ELEMENTS, "Largest mask to put into the model.")},
)
def scatterelements_to_where(node: NodeView, build: Builder) -> Value:
    """Return the data where the mask is false, the updates where it is true."""
    data = node.need(0)
    reduction = reduction_of(node)
    wide, updates = widened(build, data, node.need(2), reduction)
    written = _write(node, build, wide, updates, reduction)
    return narrowed(build, written, data)


def _write(node: NodeView, build: Builder, data: Value, updates: Value, reduction: str) -> Value:
    indices = node.need(1)
    dims = known_shape(data)
    axis = axis_of(node, len(dims))
    limit = int(build.option("max_elements"))
    line = _along_axis(indices, axis, dims)
    if line is not None:
        size = fixed(dims[axis : axis + 1], "data")[0]
        refuse_large(size, limit)
        line = normalised(line, size)
        if len(line) > 1:
            return masked_write(
                build,
                data,
                updates,
                line,
                sizes=(size,),
                first=axis,
                update_axis=axis,
                reduction=reduction,
            )
        mask = np.zeros([size if i == axis else 1 for i in range(len(dims))], dtype=np.bool_)
        mask.reshape(-1)[line] = True
        return broadcast_write(build, data, updates, mask, reduction)
    known = build.need_const(indices, "the index")
    sizes = fixed(dims, "data")
    _check_fit(known.shape, sizes, axis)
    refuse_large(math.prod(sizes), limit)
    positions = element_positions(normalised(known, sizes[axis]), axis, sizes)
    listed = updates if updates.rank == 1 else build.Reshape(updates, [-1])
    return masked_write(
        build, data, listed, positions, sizes=sizes, first=0, update_axis=0, reduction=reduction
    )


def _check_fit(shape: tuple[int, ...], sizes: tuple[int, ...], axis: int) -> None:
    if len(shape) != len(sizes) or any(
        have > room for i, (have, room) in enumerate(zip(shape, sizes, strict=True)) if i != axis
    ):
        raise Refuse("the indices must fit the data; they do not")


def _along_axis(indices: Value, axis: int, dims: tuple[int | str | None, ...]) -> Array | None:
    """Return the indices along the axis where they depend on nothing else and cover the rest."""
    shape = indices.shape
    if shape is None or len(shape) != len(dims) or not shape[axis]:
        return None
    if not all(same_dim(shape[i], dims[i]) for i in range(len(dims)) if i != axis):
        return None
    known = indices.array()
    if known is None:
        return _expanded(indices, axis, len(dims))
    if not known.size:
        return None
    first = known[tuple(slice(None) if i == axis else slice(0, 1) for i in range(known.ndim))]
    return first.reshape(-1) if bool((known == first).all()) else None


def _expanded(indices: Value, axis: int, rank: int) -> Array | None:
    """Return the line of a constant that is expanded to the other axes at run time."""
    producer = indices.producer
    if producer is None or producer.domain != "" or producer.op != "Expand":
        return None
    source = producer.input(0)
    known = None if source is None else source.array()
    length = indices.dim(axis)
    if known is None or length is None or known.ndim > rank:
        return None
    whole = known.reshape([1] * (rank - known.ndim) + list(known.shape))
    if any(size != 1 for i, size in enumerate(whole.shape) if i != axis):
        return None
    return np.broadcast_to(whole.reshape(-1), (length,)).copy()
