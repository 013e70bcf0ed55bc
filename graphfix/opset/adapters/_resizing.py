"""What Resize is given for some axes, written for all of them.

References: Resize-18 in onnx/defs/tensor/defs.cc.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Value, need_rank
from graphfix.opset.adapters._aspect import computed, fitted, keeps_aspect
from graphfix.opset.adapters._run_time import allow


def resized_everywhere(node: NodeView, build: Builder) -> dict[str, Any]:
    """Return the inputs of a Resize for all axes and without policy; those that change.

    A policy is worked out as sizes, which map points as it does only where the coordinates depend
    on the lengths alone (`_aspect.BY_LENGTHS`).

    Raises:
        Refuse: The rank is unknown, or a constant is asked for and not given.
    """
    x, roi = node.need(0), node.input(1)
    scales, sizes = _unless_empty(node.input(2)), _unless_empty(node.input(3))
    policy = keeps_aspect(node)
    if not node.has("axes") and not policy:
        return {}
    rank = need_rank(x)
    axes = [axis % rank for axis in node.attr("axes", list(range(rank)))]
    changes: dict[str, Any] = {}
    if sizes is not None:
        known = build.const(sizes)
        if policy:
            fit = fitted(node, build)
            if fit.sizes is not None:
                known = np.array(fit.sizes, dtype=np.int64)
            else:
                known, sizes = None, computed(node, axes, build)[1]
        changes["sizes"] = _all_sizes(x, axes, sizes, known, build)
    if scales is not None:
        changes["scales"] = _spread(scales, axes, np.ones(rank, np.float32), "scales", build)
    region = build.const(roi)
    if roi is not None and (region is None or region.size):
        whole = np.array([0.0] * rank + [1.0] * rank).astype(roi.dtype or np.float32)
        both = [*axes, *(axis + rank for axis in axes)]
        changes["roi"] = _spread(roi, both, whole, "roi", build)
    return changes


def _unless_empty(value: Value | None) -> Value | None:
    return None if value is None or value.static_shape == (0,) else value


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
