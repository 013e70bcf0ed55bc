"""Replace GatherElements by Gather over flattened data.

What it does:
    The data is laid out as one vector; each index becomes the number of an element of it, by
    adding where the other axes stand. Negative indices count from the end.

Why engines need it:
    TensorRT has an importer for GatherElements from 8.0 on, with sizes known.

Before:
    y = GatherElements <axis = 1> (x, i)        x: [3, 4], i: [3, 2]

After:
    y = Gather (Reshape (x, {-1}), Add (i, {{0, 0}, {4, 4}, {8, 8}}))

When it refuses:
    A size of the data or of the index is unknown.

Accuracy:
    Exact: elements are moved.

References:
    https://onnx.ai/onnx/operators/onnx__GatherElements.html
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import rewrite
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView, Value
from graphfix.report import EXACT

_MAX_OFFSETS = 1 << 22


@rewrite(
    "GatherElements",
    removes=(
        "op:GatherElements",
        "dtype:GatherElements.*",
        "shape:GatherElements.*",
        "rank:GatherElements.*",
    ),
    emits=("Add", "Gather", "Less", "Mul", "Reshape", "Where"),
    accuracy=EXACT,
    since=11,
)
def gather_elements_to_gather(node: NodeView, build: Builder) -> Value:
    """Gather from a vector, see the module."""
    data, index = node.need(0), node.need(1)
    sizes, wanted = data.static_shape, index.static_shape
    if sizes is None or wanted is None or index.dtype is None:
        raise Refuse("a size of the data or of the index is unknown")
    if not sizes or len(sizes) != len(wanted) or np.prod(wanted) > _MAX_OFFSETS:
        raise Refuse("the index does not fit the data, or is too large")
    axis = int(node.attr("axis", 0)) % len(sizes)
    strides = [int(np.prod(sizes[place + 1 :])) for place in range(len(sizes))]
    offsets = np.zeros(wanted, dtype=index.dtype)
    for place, size in enumerate(wanted):
        if place != axis:
            line = np.arange(size, dtype=index.dtype) * strides[place]
            offsets = offsets + line.reshape([-1 if p == place else 1 for p in range(len(sizes))])
    known = build.const(index)
    if known is not None:
        entries = np.where(known < 0, known + sizes[axis], known) * strides[axis] + offsets
        flat = build.constant(entries.astype(index.dtype))
    else:
        counted = build.Where(build.Less(index, 0), build.Add(index, sizes[axis]), index)
        flat = build.Add(build.Mul(counted, strides[axis]), build.constant(offsets))
    return build.Gather(build.Reshape(data, [-1]), flat, axis=0)
