"""Between opset 10 and 9.

References: Slice-10 and -1, Resize-10 and Upsample-9, IsInf-10 in onnx/defs/tensor, TopK-10 and -1
in onnx/defs/math, ThresholdedRelu-10 in onnx/defs/math (defs.cc and old.cc).
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Value,
    axes_of,
    need_elem_type,
    need_rank,
    respell,
)
from graphfix.opset.adapters._slicing import slice_by_mask, slice_of_known_size
from graphfix.opset.adapting import Adapted, adapter


@adapter("Slice", 10, 9)
def slice_down(node: NodeView, build: Builder) -> Adapted:
    """The bounds were attributes, and the step was 1."""
    x = node.need(0)
    known = [build.const(node.need(position)) for position in (1, 2)]
    axes = axes_of(node.input(3), "axes", build)
    steps = axes_of(node.input(4), "steps", build)
    if axes is None:
        count = next((len(bounds) for bounds in known if bounds is not None), None)
        axes = list(range(need_rank(x) if count is None else count))
    elif any(axis < 0 for axis in axes):
        axes = [axis % need_rank(x) for axis in axes]
    if known[0] is None or known[1] is None:
        return slice_by_mask(node, axes, steps or [1] * len(axes), build)
    starts, ends = ([int(bound) for bound in bounds] for bounds in known if bounds is not None)
    if any(step != 1 for step in steps or ()):
        parts = list(zip(axes, starts, ends, steps or (), strict=True))
        return slice_of_known_size(x, parts, build)
    return build.Slice(x, starts=starts, ends=ends, axes=axes)


@adapter("IsInf", 10, 9)
def is_inf_down(node: NodeView, build: Builder) -> Adapted:
    """Nothing but an infinity lies beyond the largest number."""
    x = node.need(0)
    need_elem_type(x)
    if x.type_name not in ("float16", "float32", "float64") or x.dtype is None:
        raise Refuse(
            f"{x.name} must be float16, float32 or float64; opset 9 has no IsInf of {x.type_name}"
        )
    largest = np.finfo(x.dtype).max
    above = build.Greater(x, build.constant(np.array(largest, dtype=x.dtype)))
    below = build.Less(x, build.constant(np.array(-largest, dtype=x.dtype)))
    positive, negative = node.attr("detect_positive", 1), node.attr("detect_negative", 1)
    if positive and negative:
        return build.Or(above, below)
    if positive or negative:
        return above if positive else below
    return build.And(above, below)


@adapter("ThresholdedRelu", 10, 9)
def thresholded_relu_down(node: NodeView, build: Builder) -> Adapted:
    """What is not above the threshold becomes 0, NaN too."""
    x = node.need(0)
    need_elem_type(x)
    alpha = build.constant(np.array(node.attr("alpha", 1.0), dtype=x.dtype))
    zero: Value = build.constant(np.zeros((), dtype=x.dtype))
    return build.Where(build.Greater(x, alpha), x, zero)


@adapter("Slice", 9, 10)
def slice_up(node: NodeView, build: Builder) -> Adapted:
    """The bounds became inputs."""
    return respell(node, build)


@adapter("TopK", 10, 9)
def top_k_down(node: NodeView, build: Builder) -> Adapted:
    """The number was an attribute."""
    count = int(build.need_const(node.need(1), "K").reshape(()))
    return respell(node, build, drop=("K",), k=count)


@adapter("TopK", 9, 10)
def top_k_up(node: NodeView, build: Builder) -> Adapted:
    """The number became an input."""
    return respell(node, build, drop=("k",), K=[int(node.attr("k"))])


@adapter("Resize", 10, 9)
def resize_down(node: NodeView, build: Builder) -> Adapted:
    """Upsample maps coordinates in the same way, but takes no scale below 1."""
    scales = build.need_const(node.need(1), "scales")
    if (scales < 1).any():
        raise Refuse("the scales must be at least 1; Upsample does not make smaller")
    return build.Upsample(node.need(0), node.need(1), mode=node.attr("mode", "nearest"))


@adapter("Upsample", 9, 10)
def upsample_up(node: NodeView, build: Builder) -> Adapted:
    """It is called Resize and maps coordinates in the same way."""
    return build.Resize(node.need(0), node.need(1), mode=node.attr("mode", "nearest"))
