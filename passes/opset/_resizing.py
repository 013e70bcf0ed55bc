"""What Resize is given for some axes, written for all of them.

References: Resize-18 in onnx/defs/tensor/defs.cc; sizes under an aspect policy are rounded half up.
"""

from __future__ import annotations

from math import floor
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring.building import Builder
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import Array, NodeView, Value
from graphfix.opset.adapting import need_rank
from graphfix.passes.opset._run_time import allow

_FLOAT: int = TensorProto.FLOAT
_INT64: int = TensorProto.INT64


def resized_everywhere(node: NodeView, build: Builder) -> dict[str, Any]:
    """Return the inputs of a Resize for all axes and without policy; those that change.

    Raises:
        Refuse: The rank is unknown, or a constant is asked for and not given.
    """
    x, roi, scales, sizes = node.need(0), node.input(1), node.input(2), node.input(3)
    policy = node.attr("keep_aspect_ratio_policy", "stretch")
    if not node.has("axes") and (sizes is None or policy == "stretch"):
        return {}
    rank = need_rank(x)
    axes = [axis % rank for axis in node.attr("axes", list(range(rank)))]
    changes: dict[str, Any] = {}
    if sizes is not None:
        fitted = build.const(sizes)
        if policy != "stretch":
            changes["sizes"] = _fitted(node, fitted, axes, policy, build)
        else:
            changes["sizes"] = _all_sizes(x, axes, sizes, fitted, build)
    if scales is not None:
        changes["scales"] = _spread(scales, axes, np.ones(rank, np.float32), "scales", build)
    region = build.const(roi)
    if roi is not None and (region is None or region.size):
        whole = np.array([0.0] * rank + [1.0] * rank).astype(roi.dtype or np.float32)
        both = [*axes, *(axis + rank for axis in axes)]
        changes["roi"] = _spread(roi, both, whole, "roi", build)
    return changes


def _spread(given: Value, places: list[int], others: Array, what: str, build: Builder) -> Any:
    known = build.const(given)
    if known is not None:
        whole = others.copy()
        whole[places] = known.reshape(-1)
        return whole
    allow(build, what)
    indices = build.constant(np.array(places, dtype=np.int64))
    return build.ScatterElements(build.constant(others), indices, given, axis=0)


def _all_sizes(x: Value, axes: list[int], sizes: Value, known: Array | None, build: Builder) -> Any:
    lengths = [x.dim(axis) for axis in range(need_rank(x))]
    if known is not None:
        for axis, size in zip(axes, known.reshape(-1), strict=True):
            lengths[axis] = int(size)
        fixed = [length for length in lengths if length is not None]
        if len(fixed) == len(lengths):
            return np.array(fixed, dtype=np.int64)
    allow(build, "sizes")
    indices = build.constant(np.array(axes, dtype=np.int64))
    return build.ScatterElements(build.Shape(x), indices, sizes, axis=0)


def _fitted(
    node: NodeView, known: Array | None, axes: list[int], policy: str, build: Builder
) -> Any:
    """Work out the sizes that keep the aspect ratio."""
    x, sizes = node.need(0), node.need(3)
    lengths = [x.dim(axis) for axis in axes]
    fixed = [length for length in lengths if length is not None]
    if known is not None and len(fixed) == len(lengths):
        wanted = known.reshape(-1)
        scales = [
            float(np.float32(size) / np.float32(length))
            for size, length in zip(wanted, fixed, strict=True)
        ]
        scale = min(scales) if policy == "not_larger" else max(scales)
        rounded = np.array([floor(scale * length + 0.5) for length in fixed], dtype=np.int64)
        return _all_sizes(x, axes, sizes, rounded, build)
    if known is not None and not build.at_run_time:
        raise Refuse(f"keep_aspect_ratio_policy {policy!r}, and the size of an axis is unknown")
    allow(build, "sizes")
    indices = build.constant(np.array(axes, dtype=np.int64))
    length = build.Cast(build.Gather(build.Shape(x), indices, axis=0), to=_FLOAT)
    ratios = build.Div(build.Cast(sizes, to=_FLOAT), length)
    reduce = build.ReduceMin if policy == "not_larger" else build.ReduceMax
    scaled = build.Mul(length, reduce(ratios, axes=[0], keepdims=1))
    whole = build.Cast(build.Floor(build.Add(scaled, 0.5)), to=_INT64)
    return _all_sizes(x, axes, whole, None, build)
