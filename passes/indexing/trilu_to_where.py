"""Replace Trilu by Where with a mask.

What it does: The mask is a constant where both sizes of the matrices are known, and otherwise
    compares the number of the column with that of the row, which Range counts.
Why engines need it: TensorRT has an importer for Trilu from 8.5 on; com.microsoft's is
    onnxruntime's alone.
Before: y = Trilu <upper = 0> (x, k)
After: y = Where (mask, x, 0)             mask: bool, true up to diagonal k
When it refuses: Rank or dtype are unknown.
Accuracy: Exact, bit by bit.
References: https://onnx.ai/onnx/operators/onnx__Trilu.html
"""

import numpy as np

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Value,
    counted,
    like_first,
    need_rank,
    rewrite,
)

_MAX_MASK = 1 << 20
_LONGEST = 1 << 60  # no axis has as many entries


@rewrite(
    "Trilu com.microsoft::Trilu",
    removes=(
        "op:Trilu dtype:Trilu.* const:Trilu.k rank:Trilu.* op:com.microsoft::Trilu "
        "domain:com.microsoft::Trilu"
    ),
    emits="And Gather Less Not Range Reshape Shape Sub Where",
    infer=like_first,
)
def trilu_to_where(node: NodeView, build: Builder) -> Value:
    """Keep a triangle, see the module."""
    x = node.need(0)
    rank = need_rank(x, 2)
    if x.dtype is None:
        raise Refuse(f"the dtype of {x.name} must be known")
    given = node.input(1)
    known = np.array(0) if given is None else build.const(given)
    upper = bool(node.attr("upper", 1))
    rows, columns = x.dim(-2), x.dim(-1)
    away: Value
    diagonal = int(known.reshape(())) if known is not None else 0
    if abs(diagonal) >= _LONGEST:  # all is kept, or nothing
        return _kept(x, build.constant(np.array((diagonal < 0) == upper)), build)
    if rows is not None and columns is not None and rows * columns <= _MAX_MASK:
        distance = np.arange(columns)[None, :] - np.arange(rows)[:, None]
        if known is not None:
            mask = build.constant(distance >= diagonal if upper else distance <= diagonal)
            return _kept(x, mask, build)
        away = build.constant(distance)
    else:
        away = build.Sub(
            build.Reshape(counted(x, rank - 1, build), [1, -1]),
            build.Reshape(counted(x, rank - 2, build), [-1, 1]),
        )
    if known is not None:
        limit = build.constant(known.reshape(()).astype(np.int64))
    else:
        limit = build.Reshape(given, [1, 1])
    # What lies below the diagonal is not kept; from the lower triangle, what lies above.
    mask = build.Not(build.Less(away, limit) if upper else build.Less(limit, away))
    return _kept(x, mask, build)


def _kept(x: Value, mask: Value, build: Builder) -> Value:
    assert x.dtype is not None
    if x.dtype == np.dtype(np.bool_):
        return build.And(x, mask)
    return build.Where(mask, x, np.zeros((), dtype=x.dtype))
