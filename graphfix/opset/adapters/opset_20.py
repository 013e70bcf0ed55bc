"""Between opset 20 and 19.

References: GridSample-20 and -16 in onnx/defs/tensor, DFT-20 and -17 in onnx/defs/math;
AffineGrid-20 in onnx/defs/tensor, whose body says where pixels lie.
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Value,
    chosen,
    late_from_front,
    need_elem_type,
    need_rank,
    respell,
)
from graphfix.opset.adapters._run_time import allow
from graphfix.opset.adapting import Adapted, adapter

_OLDER = {"linear": "bilinear", "cubic": "bicubic", "nearest": "nearest"}
_NEWER = {older: newer for newer, older in _OLDER.items()}


@adapter("GridSample", 20, 19)
def grid_sample_down(node: NodeView, build: Builder) -> Adapted:
    """The modes had other names, and images alone were sampled."""
    if need_rank(node.need(0)) != 4:
        raise Refuse("the rank of the input must be 4, as opset 19 samples no other")
    return respell(node, build, mode=_OLDER[node.attr("mode", "linear")])


@adapter("GridSample", 19, 20)
def grid_sample_up(node: NodeView, build: Builder) -> Adapted:
    """The modes have other names."""
    return respell(node, build, mode=_NEWER[node.attr("mode", "bilinear")])


@adapter("DFT", 20, 19)
def dft_down(node: NodeView, build: Builder) -> Adapted:
    """The axis was an attribute, with another default."""
    x, given = node.need(0), node.input(2)
    rank = need_rank(x)
    known = np.array(-2) if given is None else build.const(given)
    if known is not None:
        return respell(node, build, axis=int(known.reshape(())) % rank)
    assert given is not None
    allow(build, "axis")

    def along(inner: Builder, axis: int) -> Value:
        result = respell(node, inner, axis=axis)[0]
        assert result is not None
        return result

    return chosen(build, late_from_front(given, rank, build), rank - 1, along)


@adapter("AffineGrid", 20, 19)
def affine_grid_down(node: NodeView, build: Builder) -> Adapted:
    """Multiply the places of all pixels, from -1 to 1 and with a 1 appended, by the matrices."""
    theta, size = node.need(0), node.need(1)
    kind = need_elem_type(theta)
    rows = theta.dim(1)
    if rows is None:
        raise Refuse("the shape of theta must be known")
    one = build.constant(np.array(1, dtype=np.int64))
    zero = build.constant(np.array(0, dtype=np.int64))
    along: list[Value] = []
    for axis in range(rows):
        count = build.Gather(size, build.constant(np.array(2 + axis, dtype=np.int64)), axis=0)
        length = build.Cast(count, to=kind)
        if node.attr("align_corners", 0):
            steps = build.Sub(length, 1.0)
            if rows == 3 and axis == 0:
                steps = build.Max(steps, 1.0)  # one slice alone lies at -1, says the body
            step = build.Div(build.constant(np.array(2, dtype=theta.dtype)), steps)
            start = build.constant(np.array(-1, dtype=theta.dtype))
        else:
            step = build.Div(build.constant(np.array(2, dtype=theta.dtype)), length)
            start = build.Sub(build.Div(step, 2.0), 1.0)
        places = build.Cast(build.Range(zero, count, one), to=kind)
        line = build.Add(start, build.Mul(places, step))
        along.append(build.Reshape(line, [-1] + [1] * (rows - axis)))
    space = build.Slice(size, [2], [2 + rows], [0])
    full = build.Concat(space, build.constant(np.array([1])), axis=0)
    columns = [build.Expand(line, full) for line in reversed(along)]
    ones = build.Expand(build.constant(np.ones([1] * (rows + 1), dtype=theta.dtype)), full)
    flat = build.Reshape(build.Concat(*columns, ones, axis=-1), [-1, rows + 1])
    grid = build.MatMul(flat, build.Transpose(theta, perm=[0, 2, 1]))
    whole = build.Concat(
        build.Slice(size, [0], [1], [0]), space, build.constant(np.array([rows])), axis=0
    )
    return build.Reshape(grid, whole)


@adapter("DFT", 19, 20)
def dft_up(node: NodeView, build: Builder) -> Adapted:
    """The axis became an input, with another default."""
    return respell(node, build, axis=np.array(node.attr("axis", 1), dtype=np.int64))
