"""Replace ScatterElements and Scatter with constant indices by Where.

What it does:
A constant mask says which elements are written, a constant map which update goes there; Gather
spreads the updates over the shape of the data, and Where chooses. Indices that depend on nothing
but their place along the axis, and cover the other axes, as assignments to a row or column are
exported, need a mask and a map along that axis only; those may be an Expand of a constant to
sizes that are known at run time.

Why engines need it:
TensorRT has no scatter up to 8.0.

Before:
    y = ScatterElements <axis = 1> (x, [[2], [2], [2]], updates)

After:
    y = Where ([[false, false, true, false, false]], updates, x)

When it refuses:
Indices computed at run time, out of range, or twice the same along the axis (ONNX does not say
which write stays); a ``reduction``; unknown shape of the data, unless only its size along the axis
matters; a mask of more than ``max_elements``.

Accuracy:
Exact: values are moved, not computed.

References:
https://onnx.ai/onnx/operators/onnx__ScatterElements.html, onnx__Scatter.html;
onnx/onnx-tensorrt 7.x and 8.0 builtin_op_importers.cpp (no importer).
"""

from __future__ import annotations

import math

import numpy as np

from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import Option, rewrite
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView, Value
from graphfix.passes.scatter._indices import (
    Array,
    axis_of,
    element_positions,
    fixed,
    known_shape,
    normalised,
    refuse_reduction,
    same_dim,
)

_DUPLICATES = "an element is written twice, and ONNX does not say which write stays"


@rewrite(
    ("ScatterElements", "Scatter"),
    removes=(
        "op:ScatterElements",
        "op:Scatter",
        "dtype:ScatterElements.*",
        "dtype:Scatter.*",
    ),
    emits=("Gather", "Reshape", "Where"),
    since=9,
    options={"max_elements": Option(int, 2**20, "Largest mask that is stored in the model.")},
)
def scatterelements_to_where(node: NodeView, build: Builder) -> Value:
    """Return the data where the mask is false, the updates where it is true."""
    refuse_reduction(node)
    data, indices, updates = node.need(0), node.need(1), node.need(2)
    dims = known_shape(data, "data")
    axis = axis_of(node, len(dims))
    limit = int(build.option("max_elements"))
    line = _along_axis(indices, axis, dims)
    if line is not None:
        return _by_lines(build, data, updates, axis, line, limit)
    known = build.need_const(indices, "the index")
    sizes = fixed(dims, "data")
    if known.ndim != len(sizes) or any(
        have > room for i, (have, room) in enumerate(zip(known.shape, sizes, strict=True)) if i != axis
    ):
        raise Refuse("the indices do not fit the data")
    if not known.size:
        raise Refuse("there are no indices")
    total = math.prod(sizes)
    if total > limit:
        raise Refuse(f"the mask would have {total} elements")
    positions = element_positions(normalised(known, sizes[axis]), axis, sizes)
    if len(np.unique(positions)) != len(positions):
        raise Refuse(_DUPLICATES)
    mask = np.zeros(total, dtype=np.bool_)
    mask[positions] = True
    source = np.zeros(total, dtype=np.int64)
    source[positions] = np.arange(len(positions))
    spread = build.Gather(build.Reshape(updates, [-1]), source.reshape(sizes), axis=0)
    return spread if mask.all() else build.Where(mask.reshape(sizes), spread, data)


def _by_lines(
    build: Builder, data: Value, updates: Value, axis: int, line: Array, limit: int
) -> Value:
    dims = known_shape(data, "data")
    size = fixed(dims[axis : axis + 1], "data")[0]
    if size > limit:
        raise Refuse(f"the mask would have {size} elements")
    line = normalised(line, size)
    if len(np.unique(line)) != len(line):
        raise Refuse(_DUPLICATES)
    mask = np.zeros(size, dtype=np.bool_)
    mask[line] = True
    shape = [1] * len(dims)
    shape[axis] = size
    if len(line) == 1:
        return build.Where(mask.reshape(shape), updates, data)
    source = np.zeros(size, dtype=np.int64)
    source[line] = np.arange(len(line))
    spread = build.Gather(updates, source, axis=axis)
    return spread if mask.all() else build.Where(mask.reshape(shape), spread, data)


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
    if any(n != 1 for i, n in enumerate(whole.shape) if i != axis):
        return None
    return np.broadcast_to(whole.reshape(-1), (length,)).copy()
