"""Replace ScatterND with constant indices by Where.

What it does:
A constant mask says which places are written, a constant map which update goes there; Gather
spreads the updates over the shape of the data, and Where chooses. A single update needs no Gather:
it is broadcast.

Why engines need it:
TensorRT has no scatter up to 7.2, and ScatterND only as a plugin in 8.0.

Before:
    y = ScatterND (x, [[4], [0], [2]], updates)

After:
    u = Gather (updates, [1, 0, 2, 0, 0, 0])
    y = Where ([[true], [false], [true], [false], [true], [false]], u, x)

When it refuses:
Indices computed at run time, out of range, or twice the same (ONNX does not say which write
stays); a ``reduction``; unknown rank of the data, or unknown sizes of the axes that the indices
name; a mask of more than ``max_elements``.

Accuracy:
Exact: values are moved, not computed.

References:
https://onnx.ai/onnx/operators/onnx__ScatterND.html; NVIDIA/TensorRT issues 805, 1350, 1457;
onnx/onnx-tensorrt 7.x builtin_op_importers.cpp (no importer).
"""

from __future__ import annotations

import math

import numpy as np

from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import Option, rewrite
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView, Value
from graphfix.passes.scatter._indices import (
    fixed,
    known_shape,
    linear,
    refuse_reduction,
    regrouped,
    rows_of,
)


@rewrite(
    "ScatterND",
    removes=("op:ScatterND", "attr:ScatterND.reduction=none", "dtype:ScatterND.*"),
    emits=("Concat", "Gather", "Reshape", "Shape", "Slice", "Where"),
    since=11,
    options={"max_elements": Option(int, 2**20, "Largest mask that is stored in the model.")},
)
def scatternd_to_where(node: NodeView, build: Builder) -> Value:
    """Return the data where the mask is false, the updates where it is true."""
    refuse_reduction(node)
    data, updates = node.need(0), node.need(2)
    dims = known_shape(data, "data")
    rows = rows_of(build.need_const(node.need(1), "the index"), dims)
    count, depth = rows.shape
    named = fixed(dims[:depth], "data")
    size = math.prod(named)
    if not count:
        raise Refuse("there are no indices")
    if size > int(build.option("max_elements")):
        raise Refuse(f"the mask would have {size} elements")
    positions = linear(rows, named)
    mask = np.zeros(size, dtype=np.bool_)
    mask[positions] = True
    chosen = mask.reshape(*named, *[1] * (len(dims) - depth))
    if count == 1:
        return build.Where(chosen, regrouped(build, updates, [1] * depth, data, depth), data)
    source = np.zeros(size, dtype=np.int64)
    source[positions] = np.arange(count)
    listed = regrouped(build, updates, [count], data, depth)
    spread = build.Gather(listed, source.reshape(named), axis=0)
    return spread if mask.all() else build.Where(chosen, spread, data)
