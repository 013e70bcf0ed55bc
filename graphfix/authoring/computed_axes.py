"""Axes that are computed at run time: an If for each axis that there is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from onnx import TensorProto

from graphfix.authoring.building import Builder
from graphfix.authoring.reshaping import reshaped
from graphfix.authoring.respelling import need_elem_type, need_rank
from graphfix.ir.views import NodeView, Refuse, Value

_BOOL: int = TensorProto.BOOL
_INT32: int = TensorProto.INT32
_INT64: int = TensorProto.INT64
# Over one axis after the other these give what they give over all of them at once.
_COMPOSED = {
    "ReduceL1": "ReduceL1", "ReduceL2": "ReduceL2", "ReduceLogSum": "ReduceSum",
    "ReduceLogSumExp": "ReduceLogSumExp", "ReduceMax": "ReduceMax", "ReduceMean": "ReduceMean",
    "ReduceMin": "ReduceMin", "ReduceProd": "ReduceProd", "ReduceSum": "ReduceSum",
    "ReduceSumSquare": "ReduceSum",
}  # fmt: skip


def late_from_front(axes: Value, rank: int, build: Builder) -> Value:
    """Count negative axes from the front; int64 in, int64 out."""
    whole = axes if axes.elem_type == _INT64 else build.Cast(axes, to=_INT64)
    return build.Where(build.Less(whole, 0), build.Add(whole, rank), whole)


def chosen(
    build: Builder, index: Value, count: int, make: Callable[[Builder, int], Value], first: int = 0
) -> Value:
    """Compute the one of some expressions that an index, of one element, names.

    Args:
        build: The builder.
        index: int64, one element, at least 0; too high an index takes the last expression.
        count: How many there are.
        make: Called with a builder for the branch and the number of the expression.
        first: The number of the first.
    """
    if count - first == 1:
        return make(build, first)

    def this(inner: Builder) -> list[Value]:
        return [make(inner, first)]

    def others(inner: Builder) -> list[Value]:
        return [chosen(inner, index, count, make, first + 1)]

    hit = build.Reshape(build.Equal(index, first), np.zeros(0, dtype=np.int64))
    return build.If(hit, then_branch=build.body([], this), else_branch=build.body([], others))


def reduced_over_computed_axes(node: NodeView, build: Builder) -> Value:
    """Write a reduction over each axis in its turn, if it is among those that are computed.

    Args:
        node: The reduction; its axes are input 1.
        build: The builder.

    Raises:
        Refuse: The rank is unknown, or integers are not reduced like this.
    """
    x, axes = node.need(0), node.need(1)
    rank = need_rank(x)
    kind = need_elem_type(x)
    floats = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16)
    if kind not in floats and node.op not in ("ReduceMax", "ReduceMin"):
        # One axis after the other rounds, cuts off or saturates more often than all at once.
        raise Refuse(
            f"axes must be a constant; it is computed at run time, and {node.op} of "
            f"{x.type_name} taken one axis after the other is not exact"
        )
    if not node.attr("keepdims", 1) and x.static_shape is not None and 0 in x.static_shape:
        raise Refuse("axes must be a constant; it is computed at run time, and the input is empty")
    hits = _hits(node, late_from_front(axes, rank, build), rank, build)
    result = _before(node.op, x, build)
    composed = _COMPOSED[node.op]
    for axis, hit in enumerate(hits):
        result = _reduced_if(hit, composed, result, axis, build)
    if node.op == "ReduceLogSum":
        result = build.Log(result)
    if node.attr("keepdims", 1):
        return result
    return without_axes(result, hits, build)


def without_axes(x: Value, hits: Sequence[Value], build: Builder) -> Value:
    """Leave those axes out of a shape, all of size 1, of which bool scalars say so."""
    left = [build.Reshape(build.Cast(build.Not(hit), to=_INT64), [1]) for hit in hits]
    kept = build.Reshape(build.NonZero(build.Concat(*left, axis=0)), [-1])
    return reshaped(x, build.Gather(build.Shape(x), kept, axis=0), build)


def among(counted: Value, rank: int, build: Builder) -> list[Value]:
    """Say of each axis whether it is one of those counted from the front: bool scalars."""
    hits: list[Value] = []
    for axis in range(rank):
        same = build.Cast(build.Equal(counted, axis), to=_INT32)
        hits.append(build.Cast(build.ReduceSum(same, axes=[0], keepdims=0), to=_BOOL))
    return hits


def _hits(node: NodeView, counted: Value, rank: int, build: Builder) -> list[Value]:
    """Say of each axis whether it is reduced: bool scalars."""
    hits, shape = among(counted, rank, build), counted.static_shape
    if (shape is None or 0 in shape) and not node.attr("noop_with_empty_axes", 0):
        empty = build.Equal(build.Size(counted), 0)
        return [build.Or(hit, empty) for hit in hits]
    return hits


def _before(op: str, x: Value, build: Builder) -> Value:
    """Do what the operator does to each element, which it does over no axis as well."""
    if op in ("ReduceL1", "ReduceL2"):
        return build.Abs(x)
    return build.Mul(x, x) if op == "ReduceSumSquare" else x


def _reduced_if(hit: Value, op: str, x: Value, axis: int, build: Builder) -> Value:
    def reduced(inner: Builder) -> list[Value]:
        return list(inner.multi(op, x, axes=[axis], keepdims=1))

    def kept(inner: Builder) -> list[Value]:
        return [inner.Identity(x)]

    return build.If(hit, then_branch=build.body([], reduced), else_branch=build.body([], kept))
