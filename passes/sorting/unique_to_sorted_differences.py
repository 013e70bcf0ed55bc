"""Find what is unique in a vector of known length by sorting.

What it does: Sorts all elements by TopK, keeps those that differ from the one before, and counts by
    comparing all with all. How many there are is known at run time only.
Why engines need it: TensorRT has no importer for Unique; NonZero, which gives a result of a size
    that depends on numbers, it has from 8.5 on.
Before: y, first, inverse, counts = Unique (x)             x: [N]
After:
    v, i = TopK <largest = 0> (x, N)
    new = Concat (true, Not (Equal (v[1:], v[:-1])))
    at = Squeeze (NonZero (new))
    y, first = Gather (v, at), Gather (i, at)
When it refuses: Slices along an axis are compared, the result is to keep the order of the input,
    the number of elements is unknown or above 2048, or the elements are neither float32, float64
    nor int64.
Accuracy: Exact for numbers; NaN is not treated.
References: https://onnx.ai/onnx/operators/onnx__Unique.html
"""

from math import prod

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_type, rewrite

_MOST = 2048
_TYPES = ("float32", "float64", "int64")


@rewrite(
    "Unique",
    removes="op:Unique",
    emits="And Cast Concat Equal Gather Less NonZero Not ReduceSum Reshape Slice Squeeze TopK",
    since=11,
)
def unique_to_sorted_differences(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Sort and compare neighbours, see the module."""
    x = node.need(0)
    if node.has("axis") and x.rank != 1:
        raise Refuse("single elements must be compared; whole slices along an axis are")
    if not int(node.attr("sorted", 1)):
        raise Refuse("the result must be sorted; it is in the order of the input")
    need_type(x, _TYPES)
    sizes = x.static_shape
    length = None if sizes is None else prod(sizes)
    if not length or length > _MOST:
        # The places would have to be sorted, and TopK needs to know how many there are.
        raise Refuse(
            f"the number of elements must be from 1 to {_MOST}; it is {length or 'unknown or 0'}"
        )
    flat = x if x.rank == 1 else build.Reshape(x, [length])
    values, places = build.multi(
        "TopK", flat, np.array([length], dtype=np.int64), outputs=2, largest=0, sorted=1
    )
    new = build.constant(np.ones(1, dtype=np.bool_))
    if length > 1:
        later = build.Slice(values, starts=[1], ends=[length], axes=[0])
        earlier = build.Slice(values, starts=[0], ends=[length - 1], axes=[0])
        new = build.Concat(new, build.Not(build.Equal(later, earlier)), axis=0)
    at = build.Squeeze(build.NonZero(new), axes=[0])
    found = build.Gather(values, at, axis=0)
    wanted = [value is not None for value in node.outputs] + [False] * 3
    first = build.Gather(places, at, axis=0) if wanted[1] else None
    inverse = counts = None
    if wanted[2]:
        column = build.Reshape(flat, [length, 1])
        below = build.And(build.Less(values, column), new)
        inverse = _number(below, 1, build)
    if wanted[3]:
        counts = _number(build.Equal(build.Reshape(flat, [length, 1]), found), 0, build)
    return (found, first, inverse, counts)[: len(node.outputs)]


def _number(hits: Value, axis: int, build: Builder) -> Value:
    whole = build.Cast(hits, to=TensorProto.INT64)
    return build.ReduceSum(whole, axes=[axis], keepdims=0)
