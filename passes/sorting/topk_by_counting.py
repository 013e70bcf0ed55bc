"""Replace TopK by counting how many elements come before each.

What it does: Compares each element with each other one along the axis. As many as come before it,
    larger ones and equal ones of a lower index, is its place in the result; the elements of the
    first K places and their indices are added up over a mask of one element each.
Why engines need it: OpenCV 4 has no layer for TopK, and MNN gives the indices of equal elements in
    another order than ONNX says.
Before: values, indices = TopK (x, 2)                    # x: [1, 4]
After:
    before = Cast (Greater (row, column)) + Cast (Equal (row, column)) * lower_triangle
    chosen = Equal (ReduceSum (before), [0, 1])      # [1, 4, 2]
    values = ReduceSum (Where (chosen, column, 0))   # of integers, ReduceMax of the smallest
    indices = Cast (ReduceSum (Cast (chosen) * [0, 1, 2, 3]))
When it refuses: K or the size along the axis is not known, the comparisons are more than 2^22 or
    those along the axis more than 2^20, the result need not be sorted, or the elements are no
    floats and no integers of 32 or 64 bits.
Accuracy: Exact: each sum has one number that is not 0, and each maximum one that counts. NaN has no
    place in an order.
References: https://onnx.ai/onnx/operators/onnx__TopK.html; measured on OpenCV 4.8.1 and 4.10.0
"""

from math import prod
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, rewrite

_MOST = 1 << 22
_ALONG = 1 << 10


@rewrite(
    "TopK",
    removes="op:TopK form:TopK.ties",
    emits=("Add Cast Equal Greater Less Mul ReduceMax ReduceSum Squeeze Transpose Unsqueeze Where"),
    since=11,
)
def topk_by_counting(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Compare each with each, see the module."""
    x = node.need(0)
    shape, axis, count = _form(node, build)
    rank = len(shape)
    size = shape[axis]
    assert isinstance(size, int)
    order = [*(place for place in range(rank) if place != axis), axis]
    lines = x if axis == rank - 1 else build.Transpose(x, perm=order)
    lines = build.Unsqueeze(lines, axes=[0]) if rank == 1 else lines
    last = max(rank, 2)
    column, row = (build.Unsqueeze(lines, axes=[place]) for place in (last, last - 1))
    compared = build.Greater if int(node.attr("largest", 1)) else build.Less
    ahead = build.Cast(compared(row, column), to=TensorProto.FLOAT)
    same = build.Cast(build.Equal(row, column), to=TensorProto.FLOAT)
    ties = build.Mul(same, _in_last(np.tri(size, k=-1), last + 1))
    places = build.ReduceSum(build.Add(ahead, ties), axes=[last], keepdims=1)
    chosen = build.Equal(places, _in_last(np.arange(count)[None], last + 1))
    others = np.full([1] * (last + 1), _left_out(x.dtype), x.dtype)
    numbers = build.Cast(chosen, to=TensorProto.FLOAT)
    counted = build.Mul(numbers, _in_last(np.arange(size)[:, None], last + 1))
    back = [order.index(place) for place in range(rank)]
    results: list[Value | None] = []
    for place in range(len(node.outputs)):
        if node.output(place) is None:
            results.append(None)
            continue
        made = counted if place else build.Where(chosen, column, others)
        # Engines add integers as floats, which hold none beyond 2^53.
        whole = x.dtype is not None and x.dtype.kind == "i" and not place
        reduced = build.ReduceMax if whole else build.ReduceSum
        result = reduced(made, axes=[last - 1], keepdims=0)
        result = build.Squeeze(result, axes=[0]) if rank == 1 else result
        result = result if back == list(range(rank)) else build.Transpose(result, perm=back)
        results.append(build.Cast(result, to=TensorProto.INT64) if place else result)
    return tuple(results)


def _left_out(dtype: np.dtype[Any] | None) -> int:
    """Return what stands for elements that are not chosen: nothing in a sum, or in a maximum."""
    return int(np.iinfo(dtype).min) if dtype is not None and dtype.kind == "i" else 0


def _in_last(array: Array, rank: int) -> Array:
    return array.astype(np.float32).reshape((1,) * (rank - array.ndim) + array.shape)


def _form(node: NodeView, build: Builder) -> tuple[tuple[int | str | None, ...], int, int]:
    """Return shape, axis and K."""
    x = node.need(0)
    if x.dtype is None or x.dtype.kind not in "fi" or x.dtype.itemsize not in (4, 8):
        raise Refuse(f"{x.name} must be numbers of 32 or 64 bits; it is {x.type_name}")
    if not int(node.attr("sorted", 1)):
        raise Refuse("the result must be sorted; it need not be")
    count = int(build.need_const(node.need(1), "K").reshape(-1)[0])
    if not x.shape:
        raise Refuse(f"the shape of {x.name} must be known")
    axis = int(node.attr("axis", -1)) % len(x.shape)
    size = x.shape[axis]
    if not isinstance(size, int) or not 0 < count <= size:
        raise Refuse(f"the size along axis {axis} must be known and K at most that")
    known = prod(other for other in x.shape if isinstance(other, int))
    if size > _ALONG or known * size > _MOST:
        raise Refuse(f"at most {_ALONG} elements are compared with each other; there are {size}")
    return x.shape, axis, count
