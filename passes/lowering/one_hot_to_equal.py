"""Replace OneHot by a comparison with the numbers of the classes.

What it does:
    Compares the index with 0, 1, ... along a new axis; negative indices count from the end.

Why engines need it:
    TensorRT has an importer for OneHot from 8.5 on.

Before:
    y = OneHot <axis = -1> (index, depth, values)

After:
    n = Where (Less (index, 0), Add (index, depth), index)
    y = Where (Equal (Unsqueeze (n), constant {0, 1, ...}), on, off)

When it refuses:
    The depth is computed at run time, or the rank of the index is unknown.

Accuracy:
    Exact; an index outside the range gives a row that is off, as ONNX says. Indices of a floating
    point type are cut to integers first.

References:
    https://onnx.ai/onnx/operators/onnx__OneHot.html
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import rewrite
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView, Value
from graphfix.report import EXACT

_MAX_DEPTH = 1 << 20


@rewrite(
    "OneHot",
    removes=("op:OneHot", "dtype:OneHot.*", "const:OneHot.*", "shape:OneHot.*"),
    emits=("Add", "Cast", "Equal", "Less", "Slice", "Squeeze", "Unsqueeze", "Where"),
    accuracy=EXACT,
    since=9,
)
def one_hot_to_equal(node: NodeView, build: Builder) -> Value:
    """Compare with the classes, see the module."""
    index, values = node.need(0), node.need(2)
    if index.rank is None or index.dtype is None or values.dtype is None:
        raise Refuse("the rank of the index, or a dtype, is unknown")
    depth = int(build.need_const(node.need(1), "the depth").reshape(-1)[0])
    if not 0 < depth <= _MAX_DEPTH:
        raise Refuse(f"the depth is {depth}")
    rank = index.rank + 1
    axis = int(node.attr("axis", -1))
    if not -rank <= axis < rank:
        raise Refuse(f"there is no axis {axis} in rank {rank}")
    axis %= rank
    if index.dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
        index = build.Cast(index, to=TensorProto.INT64)
    counted = build.Where(build.Less(index, 0), build.Add(index, depth), index)
    shape = [1] * rank
    shape[axis] = depth
    classes = np.arange(depth, dtype=index.dtype).reshape(shape)
    hit = build.Equal(build.Unsqueeze(counted, axes=[axis]), build.constant(classes))
    off, on = _pair(build, values)
    return build.Where(hit, on, off)


def _pair(build: Builder, values: Value) -> tuple[Value, Value]:
    known = build.const(values)
    if known is not None:
        return build.constant(known.reshape(2)[0]), build.constant(known.reshape(2)[1])
    ends = [
        build.Squeeze(build.Slice(values, starts=[i], ends=[i + 1], axes=[0]), axes=[0])
        for i in (0, 1)
    ]
    return ends[0], ends[1]
