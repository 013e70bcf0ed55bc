"""Leave out the axes of a reduction over all of them.

What it does: Drops `axes` where it names every axis, which is what is reduced without it.
Why engines need it: OpenCV 4 ends by SIGSEGV where all axes are named and none is kept. ncnn takes
    the extremes of one axis, or of all where none is named: "layer ReduceMax not exists or
    registered".
Before: y = ReduceMax <axes = [0, 1], keepdims = 0> (x)      with x: float[3,4]
After: y = ReduceMax <keepdims = 0> (x)
When it refuses: The axes or the rank are unknown, or an axis is not named.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__ReduceMax.html
"""

import numpy as np

from graphfix.authoring import (
    REDUCTIONS,
    Builder,
    NodeView,
    Refuse,
    Value,
    need_rank,
    respell,
    rewrite,
)


@rewrite(
    REDUCTIONS,
    removes=(
        *(f"attr:{op}.all-axes" for op in REDUCTIONS),
        *(f"attr:{op}.axes" for op in ("ReduceMax", "ReduceMin")),
    ),
    emits=" ".join(REDUCTIONS),
    claims="nan inf",
)
def reduce_all_axes_implicit(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Drop the axes, see the module."""
    rank = need_rank(node.need(0))
    given = node.attr("axes")
    named = given if given is not None else build.need_const(node.input(1), "the axes")
    axes = {int(axis) % max(rank, 1) for axis in np.atleast_1d(np.asarray(named))}
    if axes != set(range(rank)) or not rank:
        raise Refuse("all axes must be named; they are not")
    return respell(node, build, drop=("axes", "noop_with_empty_axes"))
