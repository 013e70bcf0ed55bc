"""What was an attribute and is computed at run time, written in operators that compute it.

Such an expression is longer than the attribute, so it is used only where folding gives no constant.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Builder,
    ComputedLate,
    NodeView,
    Refuse,
    Value,
    need_elem_type,
    need_rank,
    reshaped,
)

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


def allow(build: Builder, what: str) -> None:
    """Go on only where an expression may stand for `what`.

    Raises:
        ComputedLate: A constant is asked for.
    """
    if not build.at_run_time:
        raise ComputedLate(f"{what} must be a constant; it is computed at run time")


def from_front(axes: Value, rank: int, build: Builder) -> Value:
    """Count negative axes from the front; int64 in, int64 out."""
    whole = axes if axes.elem_type == _INT64 else build.Cast(axes, to=_INT64)
    return build.Where(build.Less(whole, 0), build.Add(whole, rank), whole)


def size_along(x: Value, axis: int, build: Builder) -> Value:
    """Return the size of one axis: int64 [1]."""
    return build.Gather(build.Shape(x), build.constant(np.array([axis], dtype=np.int64)), axis=0)


def choose(
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
        return [choose(inner, index, count, make, first + 1)]

    hit = build.Reshape(build.Equal(index, first), np.zeros(0, dtype=np.int64))
    return build.If(hit, then_branch=build.body([], this), else_branch=build.body([], others))


def reduce(node: NodeView, build: Builder) -> Value:
    """Reduce over axes that are computed: each axis in its turn, if it is among them.

    Raises:
        Refuse: A constant is asked for, the rank is unknown, or integers are not reduced like this.
    """
    allow(build, "axes")
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
    hits = _hits(node, from_front(axes, rank, build), rank, build)
    result = _before(node.op, x, build)
    composed = _COMPOSED[node.op]
    for axis, hit in enumerate(hits):
        result = _reduced_if(hit, composed, result, axis, build)
    if node.op == "ReduceLogSum":
        result = build.Log(result)
    if node.attr("keepdims", 1):
        return result
    left = [build.Reshape(build.Cast(build.Not(hit), to=_INT64), [1]) for hit in hits]
    kept = build.Reshape(build.NonZero(build.Concat(*left, axis=0)), [-1])
    return reshaped(result, build.Gather(build.Shape(result), kept, axis=0), build)


def _hits(node: NodeView, counted: Value, rank: int, build: Builder) -> list[Value]:
    """Say of each axis whether it is reduced: bool scalars."""
    empty: Value | None = None
    shape = counted.static_shape
    if (shape is None or 0 in shape) and not node.attr("noop_with_empty_axes", 0):
        empty = build.Equal(build.Size(counted), 0)
    hits: list[Value] = []
    for axis in range(rank):
        same = build.Cast(build.Equal(counted, axis), to=_INT32)
        hit = build.Cast(build.ReduceSum(same, axes=[0], keepdims=0), to=_BOOL)
        hits.append(hit if empty is None else build.Or(hit, empty))
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


def pads(x: Value, given: Value, axes: Value, build: Builder) -> Value:
    """Write pads of some axes as pads of every axis, 0 for the others: int64 [2 * rank].

    Raises:
        Refuse: A constant is asked for, or the rank is unknown.
    """
    allow(build, "pads" if build.const(axes) is not None else "axes")
    rank = need_rank(x)
    counted = from_front(axes, rank, build)
    both = build.Concat(counted, build.Add(counted, rank), axis=0)
    zeros = build.constant(np.zeros(2 * rank, dtype=np.int64))
    return build.ScatterElements(zeros, both, given, axis=0)


def equal_parts(x: Value, axis: int, count: int, build: Builder) -> Value:
    """Work out the sizes of `count` parts, of which the last may be smaller: int64 [count].

    Raises:
        Refuse: A constant is asked for.
    """
    allow(build, "the size of the axis that num_outputs divides")
    size = size_along(x, axis, build)
    part = build.Div(build.Add(size, count - 1), count)
    last = build.Sub(size, build.Mul(part, count - 1))
    return build.Concat(*[part] * (count - 1), last, axis=0)
