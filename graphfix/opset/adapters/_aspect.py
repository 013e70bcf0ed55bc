"""A Resize that keeps the aspect ratio, in forms that have no policy.

The policy scales every axis by one factor and rounds the lengths that come out half up; points are
mapped with the factor, not with the quotient of the lengths. So sizes do not say it, and scales say
it where the length rounded down is that rounded half up. Elsewhere the last slice is repeated
after the input, which is what lies beyond its edge for nearest, linear and cubic, the factor
scales this, and what is too long is cut off.

References: Resize-18 in onnx/defs/tensor/defs.cc (`round_int`);
onnxruntime/core/providers/cpu/tensor/upsamplebase.h (AdjustOutputSizeAsPolicy: float32).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_elem_type, need_rank, respell
from graphfix.opset.adapters._run_time import allow
from graphfix.opset.adapting import Adapted

_FLOAT: int = TensorProto.FLOAT
_INT64: int = TensorProto.INT64
_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE)
_END = 2**63 - 1
# These map points by the two lengths alone, so that sizes say it.
BY_LENGTHS = ("align_corners", "tf_crop_and_resize")


class Fitted(Struct, frozen=True):
    """The sizes that a policy chooses within the bounds.

    Attributes:
        axes: The axes that are resized, none negative.
        lengths: The length of each; None where one is known only at run time.
        factor: What each is scaled by, float32; None like this.
        sizes: The result, rounded half up; None like this.
    """

    axes: tuple[int, ...]
    lengths: tuple[int, ...] | None
    factor: np.float32 | None
    sizes: tuple[int, ...] | None


def keeps_aspect(node: NodeView) -> bool:
    """Say whether a policy makes something else of the sizes; of scales none does."""
    sizes = node.input(3)
    if sizes is None or sizes.static_shape == (0,):
        return False
    return bool(node.attr("keep_aspect_ratio_policy", "stretch") != "stretch")


def fitted(node: NodeView, build: Builder) -> Fitted:
    """Read a Resize with sizes and a policy; numbers where the lengths and the sizes are known.

    Raises:
        Refuse: The rank is unknown, or ONNX has no such policy.
    """
    x, policy = node.need(0), node.attr("keep_aspect_ratio_policy", "stretch")
    if policy not in ("not_larger", "not_smaller"):
        raise Refuse(f"keep_aspect_ratio_policy must be one that ONNX has; it is {policy!r}")
    rank = need_rank(x)
    axes = tuple(axis % rank for axis in node.attr("axes", list(range(rank))))
    wanted = build.const(node.need(3))
    lengths = [size for axis in axes if (size := x.dim(axis)) is not None]
    if wanted is None or len(lengths) < len(axes) or 0 in lengths:
        return Fitted(axes, None, None, None)
    ratios = wanted.reshape(-1).astype(np.float32) / np.array(lengths, dtype=np.float32)
    factor = np.float32(ratios.min() if policy == "not_larger" else ratios.max())
    scaled = [float(factor * np.float32(length)) for length in lengths]
    sizes = tuple(int(np.floor(each)) + (each - np.floor(each) >= 0.5) for each in scaled)
    return Fitted(axes, tuple(lengths), factor, sizes)


def computed(node: NodeView, axes: Sequence[int], build: Builder) -> tuple[Value, Value]:
    """Compute the factor, float32 [1], and what the axes come to, int64 [len(axes)].

    Raises:
        ComputedLate: A constant is asked for.
    """
    allow(build, "sizes")
    x, sizes = node.need(0), node.need(3)
    indices = build.constant(np.array(axes, dtype=np.int64))
    length = build.Cast(build.Gather(build.Shape(x), indices, axis=0), to=_FLOAT)
    ratios = build.Div(build.Cast(sizes, to=_FLOAT), length)
    smaller = node.attr("keep_aspect_ratio_policy") == "not_larger"
    reduce = build.ReduceMin if smaller else build.ReduceMax
    factor = reduce(ratios, axes=[0], keepdims=1)
    scaled = build.Mul(length, factor)
    below = build.Floor(scaled)
    up = build.Cast(build.Not(build.Less(build.Sub(scaled, below), 0.5)), to=_FLOAT)
    return factor, build.Cast(build.Add(below, up), to=_INT64)


def keeping_aspect(node: NodeView, build: Builder) -> Adapted:
    """Write a Resize with sizes and a policy, for coordinates that depend on the factor.

    Raises:
        Refuse: What lies beyond the edge is not the last slice repeated, or a length decides
            that is known only at run time.
    """
    known = fitted(node, build)
    x = node.need(0)
    rank = need_rank(x)
    drop = ("sizes", "antialias", "axes", "keep_aspect_ratio_policy")
    if known.factor is not None and known.lengths is not None and known.sizes is not None:
        scales = np.ones(rank, dtype=np.float32)
        scales[list(known.axes)] = known.factor
        more = 0 if _rounds_down(known.factor, known.lengths, known.sizes) else 2
        if not more:
            return respell(node, build, drop=drop, scales=scales)
        _check_edge(node, known.sizes)
        more += int(1.5 / float(known.factor))
        count = build.constant(np.array([more], dtype=np.int64))
        ends = build.constant(np.array(known.sizes, dtype=np.int64))
        factors: Value = build.constant(scales)
    else:
        factor, ends = computed(node, known.axes, build)
        _check_edge(node, None)
        count = build.Add(build.Cast(build.Floor(build.Div(1.5, factor)), to=_INT64), 2)
        chosen = np.isin(np.arange(rank), known.axes)
        factors = build.Where(build.constant(chosen), factor, np.ones(1, dtype=np.float32))
    longer = x
    for axis in known.axes:
        longer = _repeated_edge(longer, axis, count, rank, build)
    (resized,) = respell(node, build, drop=drop, X=longer, scales=factors)
    assert resized is not None
    starts = [0] * len(known.axes)
    return build.Slice(resized, starts, ends, list(known.axes))


def _rounds_down(factor: np.float32, lengths: Sequence[int], sizes: Sequence[int]) -> bool:
    """Say whether scales give these sizes, in float32 and beyond: engines differ in that."""
    pairs = zip(lengths, sizes, strict=True)
    return all(
        int(np.floor(factor * np.float32(length))) == size == int(float(factor) * length)
        for length, size in pairs
    )


def _check_edge(node: NodeView, sizes: Sequence[int] | None) -> None:
    mode = node.attr("mode", "nearest")
    if mode != "nearest" and node.attr("exclude_outside", 0):
        raise Refuse(
            "a scale must give the rounded sizes where the edge is not repeated (exclude_outside)"
        )
    if mode != "nearest" and need_elem_type(node.need(0)) not in _FLOATS:
        raise Refuse(
            "a scale must give the rounded sizes of integers, which would be rounded differently"
        )
    short = sizes is None or any(size <= 1 for size in sizes)
    if short and node.attr("coordinate_transformation_mode") == "pytorch_half_pixel":
        raise Refuse("a scale must give the rounded sizes where one may be 1; none does")


def _repeated_edge(x: Value, axis: int, count: Value, rank: int, build: Builder) -> Value:
    """Repeat the last slice of an axis after it, `count` times; nothing where there is none."""
    last = build.Slice(x, [-1], [_END], [axis])
    ones = [1] * axis, [1] * (rank - axis - 1)
    before, after = (
        [build.constant(np.array(each, dtype=np.int64))] if each else [] for each in ones
    )
    parts = [*before, count, *after]
    repeats = build.Concat(*parts, axis=0) if len(parts) > 1 else count
    return build.Concat(x, build.Tile(last, repeats), axis=axis)
