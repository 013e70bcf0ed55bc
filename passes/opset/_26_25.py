"""Between opset 26 and 25.

References: BitCast-26 and CumProd-26 in onnx/defs (defs.cc).
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring.building import Builder
from graphfix.authoring.views import NodeView, Value
from graphfix.opset.adapting import Adapted, adapter, need_elem_type, need_rank
from graphfix.passes.opset._bits import reinterpret
from graphfix.passes.opset._run_time import allow, choose, from_front, size_along


@adapter("BitCast", 26, 25)
def bit_cast_down(node: NodeView, build: Builder) -> Adapted:
    """Sign, exponent and mantissa are worked out; between integers a Cast keeps the bits."""
    need_elem_type(node.need(0))
    return reinterpret(node.need(0), int(node.attr("to")), build)


@adapter("CumProd", 26, 25)
def cum_prod_down(node: NodeView, build: Builder) -> Adapted:
    """Each element is the product of a row of a triangle, with 1 outside of it."""
    x, axis = node.need(0), node.need(1)
    need_elem_type(x)
    rank = need_rank(x)
    known = build.const(axis)
    if known is not None:
        return _products(x, int(known.reshape(())) % rank, node, build)
    allow(build, "axis")

    def along(inner: Builder, each: int) -> Value:
        return _products(x, each, node, inner)

    return choose(build, from_front(axis, rank, build), rank, along)


def _products(x: Value, axis: int, node: NodeView, build: Builder) -> Value:
    rank = need_rank(x)
    count = build.Reshape(size_along(x, axis, build), np.zeros(0, dtype=np.int64))
    zero, one = (build.constant(np.array(n, dtype=np.int64)) for n in (0, 1))
    places = build.Range(zero, count, one)
    row = build.Reshape(places, [-1, 1] + [1] * (rank - axis - 1))
    column = build.Reshape(places, [-1] + [1] * (rank - axis - 1))
    if node.attr("reverse", 0):
        row, column = column, row
    inside = build.Less(column, row)
    if not node.attr("exclusive", 0):
        inside = build.Or(inside, build.Equal(column, row))
    assert x.dtype is not None
    neutral = build.constant(np.ones((), dtype=x.dtype))
    spread = build.Where(inside, build.Unsqueeze(x, axes=[axis]), neutral)
    return build.ReduceProd(spread, axes=[axis + 1], keepdims=0)
