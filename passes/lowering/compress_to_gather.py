"""Replace Compress by Gather of the places where the condition holds.

What it does:
    Finds the places where the condition is true, in the file where it is a constant and by NonZero
    otherwise, and gathers there. Without an axis the data is laid out as one vector first.

Why engines need it:
    TensorRT has no importer for Compress; NonZero it has from 8.5 on.

Before:
    y = Compress <axis = 1> (x, condition)

After:
    y = Gather <axis = 1> (x, Squeeze <axes = {0}> (NonZero (condition)))

When it refuses:
    The data are strings.

Accuracy:
    Exact: elements are moved. A condition that is longer than the axis, where neither length is
    known, ends in an error if it holds beyond the last element, which onnxruntime overlooks.

References:
    https://onnx.ai/onnx/operators/onnx__Compress.html
"""

from __future__ import annotations

from math import prod

import numpy as np

from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import rewrite
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView, Value
from graphfix.report import EXACT


@rewrite(
    "Compress",
    removes=("op:Compress", "dtype:Compress.*"),
    emits=("Gather", "NonZero", "Reshape", "Slice", "Squeeze"),
    accuracy=EXACT,
    since=9,
)
def compress_to_gather(node: NodeView, build: Builder) -> Value:
    """Gather where the condition holds, see the module."""
    x, condition = node.need(0), node.need(1)
    if x.type_name == "string":
        raise Refuse(f"{x.name} holds strings")
    flat = not node.has("axis")
    axis = 0 if flat else int(node.attr("axis"))
    sizes = x.static_shape
    size = (None if sizes is None else prod(sizes)) if flat else x.dim(axis)
    data = build.Reshape(x, [-1]) if flat and x.rank != 1 else x
    known = build.const(condition)
    if known is not None:
        places = np.flatnonzero(known[:size]).astype(np.int64)
        return build.Gather(data, places, axis=axis)
    length = condition.dim(0)
    if size is not None and length is not None and length > size:
        condition = build.Slice(condition, starts=[0], ends=[size], axes=[0])
    return build.Gather(data, build.Squeeze(build.NonZero(condition), axes=[0]), axis=axis)
