"""Replace Trilu by Where with a mask.

What it does:
    The mask is a constant where both sizes of the matrices are known, and otherwise compares the
    number of the column with that of the row, which Range counts.

Why engines need it:
    TensorRT has an importer for Trilu from 8.5 on.

Before:
    y = Trilu <upper = 0> (x, k)

After:
    y = Where (mask, x, 0)             mask: bool, true up to diagonal k

When it refuses:
    The diagonal is computed at run time, or rank or dtype are unknown.

Accuracy:
    Exact, bit by bit.

References:
    https://onnx.ai/onnx/operators/onnx__Trilu.html
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import rewrite
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView, Value
from graphfix.report import EXACT

_MAX_MASK = 1 << 20


@rewrite(
    "Trilu",
    removes=("op:Trilu", "dtype:Trilu.*", "const:Trilu.k", "rank:Trilu.*"),
    emits=(
        "And",
        "Cast",
        "Gather",
        "Less",
        "Not",
        "Range",
        "Shape",
        "Slice",
        "Squeeze",
        "Sub",
        "Unsqueeze",
        "Where",
    ),
    accuracy=EXACT,
    since=14,
)
def trilu_to_where(node: NodeView, build: Builder) -> Value:
    """Keep a triangle, see the module."""
    x = node.need(0)
    if x.rank is None or x.rank < 2:
        raise Refuse(f"the rank of {x.name} is unknown or below 2")
    if x.dtype is None:
        raise Refuse(f"the dtype of {x.name} is unknown")
    diagonal = 0
    if node.input(1) is not None:
        diagonal = int(build.need_const(node.input(1), "the diagonal").reshape(()))
    upper = bool(node.attr("upper", 1))
    rows, columns = x.dim(-2), x.dim(-1)
    mask: Value
    if rows is not None and columns is not None and rows * columns <= _MAX_MASK:
        away = np.arange(columns)[None, :] - np.arange(rows)[:, None]
        mask = build.constant(away >= diagonal if upper else away <= diagonal)
    else:
        away_at_run_time = build.Sub(
            build.Unsqueeze(_count(build, x, x.rank - 1), axes=[0]),
            build.Unsqueeze(_count(build, x, x.rank - 2), axes=[1]),
        )
        # Integers: not below k is at or above it, below k + 1 is up to it.
        limit = np.int64(diagonal if upper else diagonal + 1)
        below = build.Less(away_at_run_time, limit)
        mask = build.Not(below) if upper else below
    if x.dtype == np.dtype(np.bool_):
        return build.And(x, mask)
    return build.Where(mask, x, np.zeros((), dtype=x.dtype))


def _count(build: Builder, x: Value, axis: int) -> Value:
    size = build.Slice(build.Shape(x), starts=[axis], ends=[axis + 1], axes=[0])
    return build.Range(np.int64(0), build.Squeeze(size, axes=[0]), np.int64(1))
