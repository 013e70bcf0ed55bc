"""Between opset 18 and 17.

References: the Reduce operators in onnx/defs/reduction, Resize, Pad and Split in onnx/defs/tensor
(defs.cc and old.cc).
"""

from __future__ import annotations

from math import floor

import numpy as np

from graphfix.authoring.building import Builder
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import Array, NodeView, Value
from graphfix.opset.adapting import Adapted, adapter, axes_of, need_rank, respell

_REDUCE = (
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
    "ReduceMin", "ReduceProd", "ReduceSumSquare",
)  # fmt: skip


@adapter(_REDUCE, 18, 17)
def reduce_down(node: NodeView, build: Builder) -> Adapted:
    """The axes were an attribute; no axes meant all of them, never none."""
    axes = axes_of(node.input(1), "axes", build) or None
    if axes is None and node.attr("noop_with_empty_axes", 0):
        return _without_axes(node, build)
    return respell(node, build, drop=("axes", "noop_with_empty_axes"), **_axes(axes))


def _axes(axes: list[int] | None) -> dict[str, list[int]]:
    return {} if axes is None else {"axes": axes}


def _without_axes(node: NodeView, build: Builder) -> Value:
    """Reducing over no axis leaves what the operator does to each element."""
    x = node.need(0)
    match node.op:
        case "ReduceL1" | "ReduceL2":
            return build.Abs(x)
        case "ReduceLogSum":
            return build.Log(x)
        case "ReduceSumSquare":
            return build.Mul(x, x)
        case _:
            return build.Identity(x)


@adapter(_REDUCE, 17, 18)
def reduce_up(node: NodeView, build: Builder) -> Adapted:
    """The axes became an input."""
    return respell(node, build, **_axes(node.attr("axes") or None), drop=_empty_axes(node))


def _empty_axes(node: NodeView) -> tuple[str, ...]:
    return () if node.attr("axes") else ("axes",)


@adapter("Pad", 18, 17)
def pad_down(node: NodeView, build: Builder) -> Adapted:
    """Without axes, the pads of every axis are written; those of the others are 0."""
    axes = node.input(3)
    if axes is None:
        return respell(node, build)
    chosen = axes_of(axes, "axes", build)
    assert chosen is not None
    pads = build.need_const(node.need(1), "pads").reshape(2, -1)
    rank = need_rank(node.need(0))
    whole = np.zeros((2, rank), dtype=np.int64)
    for position, axis in enumerate(chosen):
        whole[:, axis] = pads[:, position]
    return respell(node, build, drop=("axes",), pads=whole.reshape(-1))


@adapter("Split", 18, 17)
def split_down(node: NodeView, build: Builder) -> Adapted:
    """Sizes are written where num_outputs stands; without either the parts are equal."""
    if node.input(1) is not None or not node.has("num_outputs"):
        return respell(node, build, drop=("num_outputs",))
    count = int(node.attr("num_outputs"))
    axis = node.attr("axis", 0)
    size = node.need(0).dim(axis)
    if size is None:
        raise Refuse("num_outputs of an axis of unknown size")
    part = -(-size // count)
    sizes = [part] * (count - 1) + [size - part * (count - 1)]
    if sizes[-1] < 0:
        raise Refuse(f"num_outputs {count} does not divide {size}")
    return respell(node, build, drop=("num_outputs",), split=sizes)


@adapter("Split", 17, 18)
def split_up(node: NodeView, build: Builder) -> Adapted:
    """Equal parts are asked for by their number."""
    if node.input(1) is not None:
        return respell(node, build)
    return respell(node, build, num_outputs=len(node.outputs))


@adapter("Resize", 18, 17)
def resize_down(node: NodeView, build: Builder) -> Adapted:
    """The values of chosen axes are written for all of them; antialias has no counterpart."""
    if node.attr("antialias", 0) and node.attr("mode", "nearest") != "nearest":
        raise Refuse("opset 17 has no antialias")
    drop = ("antialias", "axes", "keep_aspect_ratio_policy")
    x, sizes = node.need(0), node.input(3)
    policy = node.attr("keep_aspect_ratio_policy", "stretch")
    if sizes is not None and policy != "stretch":
        return respell(node, build, drop=(*drop, "sizes"), sizes=_fitted(node, build, policy))
    if not node.has("axes"):
        return respell(node, build, drop=drop)
    axes, rank = list(node.attr("axes")), need_rank(x)
    changes: dict[str, Value | Array] = {}
    if sizes is not None:
        changes["sizes"] = _all_sizes(node, build.need_const(sizes, "sizes"), axes)
    scales = node.input(2)
    if scales is not None:
        factors = np.ones(rank, dtype=np.float32)
        factors[axes] = build.need_const(scales, "scales")
        changes["scales"] = factors
    roi = node.input(1)
    if roi is not None:
        given = build.need_const(roi, "roi")
        if given.size:
            both = np.stack([np.zeros(rank), np.ones(rank)]).astype(given.dtype)
            both[:, axes] = given.reshape(2, -1)
            changes["roi"] = both.reshape(-1)
    return respell(node, build, drop=drop, **changes)


def _all_sizes(node: NodeView, sizes: Array, axes: list[int]) -> Array:
    x = node.need(0)
    known = [x.dim(axis) for axis in range(need_rank(x))]
    for axis, size in zip(axes, sizes.reshape(-1), strict=True):
        known[axis] = int(size)
    fixed = [size for size in known if size is not None]
    if len(fixed) != len(known):
        raise Refuse("the size of an axis that is not resized is unknown")
    return np.array(fixed, dtype=np.int64)


def _fitted(node: NodeView, build: Builder, policy: str) -> Array:
    """Work out the sizes that keep the aspect ratio."""
    x = node.need(0)
    sizes = build.need_const(node.input(3), "sizes").reshape(-1)
    axes = node.attr("axes", list(range(sizes.size)))
    scales: list[float] = []
    for axis, size in zip(axes, sizes, strict=True):
        old = x.dim(axis)
        if old is None:
            raise Refuse(
                f"keep_aspect_ratio_policy {policy!r}, and the size of axis {axis} is unknown"
            )
        scales.append(float(np.float32(size) / np.float32(old)))
    scale = min(scales) if policy == "not_larger" else max(scales)
    fitted = [floor(scale * float(x.dim(axis) or 0) + 0.5) for axis in axes]
    return _all_sizes(node, np.array(fitted), list(axes))


@adapter("Resize", 17, 18)
def resize_up(node: NodeView, build: Builder) -> Adapted:
    """The newer form has more attributes, whose defaults are what the older one does."""
    return respell(node, build)


@adapter("Pad", 17, 18)
def pad_up(node: NodeView, build: Builder) -> Adapted:
    """The newer form has a further input."""
    return respell(node, build)


@adapter("MeanVarianceNormalization", 18, 17)
def mean_variance_down(node: NodeView, build: Builder) -> Adapted:
    """Spell it out: below 18, onnx cannot infer its body, and its checker rejects the model."""
    x = node.need(0)
    axes = node.attr("axes", [0, 2, 3])
    centred = build.Sub(x, build.ReduceMean(x, axes=axes, keepdims=1))
    variance = build.ReduceMean(build.Mul(centred, centred), axes=axes, keepdims=1)
    return build.Div(centred, build.Add(build.Sqrt(variance), 1e-9))
