"""Compute EyeLike from the numbers of rows and columns.

What it does: Writes the matrix as a constant where both sizes are known, and otherwise compares the
    number of the row with that of the column.
Why engines need it: TensorRT has an importer for EyeLike from 8.0 on, which takes static shapes
    only.
Before: y = EyeLike <k = 1> (x)            x: [N, M]
After:
    y = Cast (Equal (Add (rows, 1), columns))
    rows: [N, 1], 0, 1, ...; columns: [1, M]
When it refuses: The input is no matrix or of unknown rank, or no element type is known.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__EyeLike.html; builtin_op_importers.cpp:1483-1495 of
    onnx-tensorrt, release 8.6
"""

import numpy as np

from graphfix.authoring import (
    Builder,
    NodeView,
    Value,
    counted,
    dtype_of,
    need_rank_of,
    needed,
    rewrite,
)

_MOST = 1 << 20


@rewrite(
    "EyeLike",
    removes="op:EyeLike shape:EyeLike.dynamic dtype:EyeLike.*",
    emits="Add Cast Equal Gather Range Reshape Shape",
    since=9,
)
def eye_like_to_equal(node: NodeView, build: Builder) -> Value:
    """Compare rows and columns, see the module."""
    x = node.need(0)
    need_rank_of(x, 2)
    elem_type = int(node.attr("dtype", 0)) or x.elem_type
    dtype = needed(dtype_of(elem_type), f"the dtype of {x.name} must be known")
    diagonal = int(node.attr("k", 0))
    rows, columns = x.dim(0), x.dim(1)
    if rows is not None and columns is not None and rows * columns <= _MOST:
        away = np.arange(columns)[None, :] - np.arange(rows)[:, None]
        return build.constant((away == diagonal).astype(dtype))
    down = build.Reshape(counted(x, 0, build), [-1, 1])
    right = build.Reshape(counted(x, 1, build), [1, -1])
    hit = build.Equal(build.Add(down, diagonal) if diagonal else down, right)
    return hit if dtype == np.dtype(np.bool_) else build.Cast(hit, to=elem_type)
