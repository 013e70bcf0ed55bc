"""Replace ScatterND with constant indices by Where.

What it does:
A constant mask says which places are written, a constant map which update goes there; Gather
spreads the updates over the shape of the data, and Where chooses. A single update needs no Gather:
it is broadcast. A ``reduction`` combines the spread updates with the data first; several updates
to one place take several rounds.

Why engines need it:
TensorRT has no scatter up to 7.2, and ScatterND only as a plugin in 8.0; up to 9.3 it ignores the
``reduction``.

Before:
    y = ScatterND (x, [[4], [0], [2]], updates)

After:
    u = Gather (updates, [1, 0, 2, 0, 0, 0])
    y = Where ([[true], [false], [true], [false], [true], [false]], u, x)

When it refuses:
Indices computed at run time, out of range, or twice the same without a ``reduction`` (ONNX does
not say which write stays), or more than eight times with one; a ``reduction`` of bools; unknown
rank of the data, or unknown sizes of the axes that the indices name; a mask of more than
``max_elements``.

Accuracy:
Exact: values are moved, and with a ``reduction`` combined one update after the other, in their
order. NaN under max and min is what the operators Max and Min make of it.

References:
https://onnx.ai/onnx/operators/onnx__ScatterND.html; NVIDIA/TensorRT issues 805, 1350, 1457, 3462;
onnx/onnx-tensorrt 7.x builtin_op_importers.cpp (no importer).
"""

from __future__ import annotations

import math

import numpy as np

from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import Option, rewrite
from graphfix.authoring.views import NodeView, Value
from graphfix.passes.scatter._indices import (
    fixed,
    known_shape,
    linear,
    reduction_of,
    regrouped,
    rows_of,
)
from graphfix.passes.scatter._masking import (
    MAX_ELEMENTS,
    broadcast_write,
    masked_write,
    refuse_large,
)


@rewrite(
    "ScatterND",
    removes=(
        "op:ScatterND",
        "attr:ScatterND.reduction*",
        "dtype:ScatterND.*",
        "shape:ScatterND.*",
    ),
    emits=("Add", "Concat", "Gather", "Max", "Min", "Mul", "Reshape", "Shape", "Slice", "Where"),
    since=11,
    options={"max_elements": Option(int, MAX_ELEMENTS, "Largest mask to put into the model.")},
)
def scatternd_to_where(node: NodeView, build: Builder) -> Value:
    """Return the data where the mask is false, the updates where it is true."""
    data, updates = node.need(0), node.need(2)
    dims = known_shape(data, "data")
    rows = rows_of(build.need_const(node.need(1), "the index"), dims)
    count, depth = rows.shape
    named = fixed(dims[:depth], "data")
    refuse_large(math.prod(named), int(build.option("max_elements")))
    positions = linear(rows, named)
    reduction = reduction_of(node)
    if count == 1:
        mask = np.zeros(math.prod(named), dtype=np.bool_)
        mask[positions] = True
        update = regrouped(build, updates, [1] * depth, data, depth)
        shape = (*named, *[1] * (len(dims) - depth))
        return broadcast_write(build, data, update, mask.reshape(shape), reduction)
    listed = regrouped(build, updates, [count], data, depth)
    return masked_write(
        build,
        data,
        listed,
        positions,
        sizes=named,
        first=0,
        update_axis=0,
        reduction=reduction,
    )
