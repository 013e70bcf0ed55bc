"""Between opset 26 and 25.

References: BitCast-26 and CumProd-26 in onnx/defs (defs.cc).
"""

from __future__ import annotations

import numpy as np
from onnx import numpy_helper

from graphfix.authoring import (
    APPROXIMATE,
    Builder,
    NodeView,
    Value,
    chosen,
    late_from_front,
    need_elem_type,
    need_rank,
    running,
)
from graphfix.opset.adapters._bits import LAYOUTS, reinterpret
from graphfix.opset.adapters._run_time import allow, size_along
from graphfix.opset.adapting import Adapted, adapter


@adapter("BitCast", 26, 25)
def bit_cast_down(node: NodeView, build: Builder) -> Adapted:
    """Sign, exponent and mantissa are worked out; between integers a Cast keeps the bits."""
    x, to = node.need(0), int(node.attr("to"))
    need_elem_type(x)
    result = reinterpret(x, to, build)
    if x.elem_type in LAYOUTS and to != x.elem_type:
        build.declare(APPROXIMATE, "the bits of each NaN are those of the usual one")
    return result


@adapter("CumProd", 26, 25)
def cum_prod_down(node: NodeView, build: Builder) -> Adapted:
    """Each element is the product of a row of a triangle, with 1 outside of it.

    Integers are multiplied in pairs, or in a Scan where their number is unknown.
    """
    x, axis = node.need(0), node.need(1)
    need_elem_type(x)
    rank = need_rank(x)
    known = build.const(axis)
    if known is not None:
        return _products(x, int(known.reshape(())) % rank, node, build)
    allow(build, "axis")

    def along(inner: Builder, each: int) -> Value:
        return _products(x, each, node, inner)

    return chosen(build, late_from_front(axis, rank, build), rank, along)


def _products(x: Value, axis: int, node: NodeView, build: Builder) -> Value:
    rank = need_rank(x)
    if x.dtype is not None and x.dtype.kind in "iu":
        return _whole_products(x, axis, node, build)
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


def _whole_products(x: Value, axis: int, node: NodeView, build: Builder) -> Value:
    """Multiply integers one by one: ReduceProd of onnxruntime goes through float64."""
    reverse, exclusive = bool(node.attr("reverse", 0)), bool(node.attr("exclusive", 0))
    size, rank = x.dim(axis), need_rank(x)
    if size is not None:
        return running("Mul", x, axis, size, build, reverse=reverse, exclusive=exclusive)

    def multiplied(inner: Builder, before: Value, each: Value) -> list[Value]:
        after = inner.Mul(before, each)
        return [after, inner.Identity(before if exclusive else after)]

    # onnxruntime scans an empty tensor along its first axis alone.
    perm = list(range(rank))
    perm[0], perm[axis] = perm[axis], perm[0]
    rows = build.Transpose(x, perm=perm) if axis else x
    one = numpy_helper.from_array(np.ones(1, dtype=x.dtype))
    zero, end = np.array([0], dtype=np.int64), np.array([2**63 - 1], dtype=np.int64)
    shape = build.Slice(build.Shape(rows), build.constant(zero + 1), build.constant(end), [0])
    first = build.ConstantOfShape(shape, value=one)
    # It divides by the number of steps, which is 1 at least like this.
    parts = [build.Unsqueeze(first, axes=[0]), rows]
    sides = [(name, x.elem_type, None) for name in ("before", "each")]
    _, products = build.multi(
        "Scan",
        first,
        build.Concat(*(parts[::-1] if reverse else parts), axis=0),
        outputs=2,
        body=build.body(sides, multiplied),
        num_scan_inputs=1,
        scan_input_directions=[int(reverse)],
        scan_output_directions=[int(reverse)],
    )
    low, high = (zero, zero - 1) if reverse else (zero + 1, end)
    kept = build.Slice(products, build.constant(low), build.constant(high), [0])
    return build.Transpose(kept, perm=perm) if axis else kept
