"""Replace ScatterND by ScatterElements on flattened data.

What it does:
The axes that the index tuples count along are flattened into one, the others into another:
``data`` becomes [P, L], the tuples one number each, spread over L columns, ``updates`` [n, L].
Constant tuples are computed here; others by a product with the strides and a sum, after the size
of its axis is added to each negative one (the first axis needs that in neither case: a negative
tuple stays one). ``reduction`` is carried over; ``none`` is not written.

Why engines need it:
TensorRT 10.0 to 10.8 refuses ScatterND with the attribute ``reduction``, whatever its value, and
newer ones any but ``none``; ScatterElements takes it from 10.0 on. Other engines lack ScatterND
altogether.

Before:
    y = ScatterND <reduction = "add"> (data, indices, updates)

After:
    flat = Reshape (data, [-1, L])
    rows = Reshape (updates, [-1, L])
    written = ScatterElements <axis = 0, reduction = "add"> (flat, positions, rows)
    y = Reshape (written, shape)

When it refuses:
Unknown rank of the data, unknown number of axes that the tuples name, unknown sizes where they
are needed; constant indices out of range, or twice the same one without ``reduction`` (ONNX does
not say which write stays); data without elements.

Accuracy:
Exact. Sums of several updates to one element are as much in the engine's order as before.

References:
https://onnx.ai/onnx/operators/onnx__ScatterND.html, onnx__ScatterElements.html;
onnx/onnx-tensorrt 10.0 and 10.9 onnxOpImporters.cpp (ScatterND); NVIDIA/TensorRT issues 3462, 3464.
"""

from __future__ import annotations

import math

import numpy as np

from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import rewrite
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView, Value
from graphfix.passes.scatter._indices import (
    Array,
    Dims,
    fixed,
    known_shape,
    normalised,
    reduction_of,
    regrouped,
    rows_of,
    strides,
)


@rewrite(
    "ScatterND",
    removes=("op:ScatterND", "form:ScatterND.reduction", "attr:ScatterND.reduction*"),
    emits=(
        *("Add", "Cast", "Concat", "Expand", "Less", "Mul", "ReduceSum", "Reshape"),
        *("ScatterElements", "Shape", "Slice", "Where"),
    ),
    since=11,
)
def scatternd_to_scatterelements(node: NodeView, build: Builder) -> Value:
    """Return the data with the updates written by ScatterElements."""
    data, indices, updates = node.need(0), node.need(1), node.need(2)
    dims = known_shape(data, "data")
    depth = indices.dim(-1)
    if depth is None:
        raise Refuse("it is not known how many axes the indices name")
    if not 1 <= depth <= len(dims):
        raise Refuse("the indices do not fit the rank of the data")
    width = math.prod(fixed(dims[depth:], "data"))
    inner = fixed(dims[1:depth], "data")
    if width == 0 or 0 in inner:
        raise Refuse("the data has no elements")
    reduction = reduction_of(node)
    known = build.const(indices)
    if known is None:
        positions: Value | Array = _computed(build, indices, inner, width)
    else:
        constant = _positions(known, dims, inner, unique=reduction == "none")
        positions = np.repeat(constant[:, np.newaxis], width, axis=1)
    flat = build.Reshape(data, [-1, width])
    rows = build.Reshape(updates, [-1, width])
    written = build.ScatterElements(
        flat, positions, rows, axis=0, reduction=None if reduction == "none" else reduction
    )
    return regrouped(build, written, (), data, 0)


def _positions(indices: Array, dims: Dims, inner: tuple[int, ...], *, unique: bool) -> Array:
    depth = indices.shape[-1]
    if unique:
        rows = rows_of(indices, dims)
    else:
        flat = indices.reshape(-1, depth)
        rows = np.stack([normalised(flat[:, i], dims[i]) for i in range(depth)], axis=1)
    return rows @ strides((1, *inner))


def _computed(build: Builder, indices: Value, inner: tuple[int, ...], width: int) -> Value:
    """Emit the positions [n, width] of index tuples that are computed at run time."""
    tuples = build.Reshape(indices, [-1, len(inner) + 1])
    if inner:
        sizes = np.array([0, *inner], dtype=np.int64)
        negative = build.Less(tuples, np.zeros((), dtype=np.int64))
        tuples = build.Where(negative, build.Add(tuples, sizes), tuples)
        scaled = build.Mul(tuples, strides((1, *inner)))
        tuples = build.ReduceSum(scaled, axes=[-1], keepdims=1)
    return tuples if width == 1 else build.Expand(tuples, [1, width])
