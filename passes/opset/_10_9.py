"""Between opset 10 and 9.

References: Slice-10 and -1, Resize-10 and Upsample-9 in onnx/defs/tensor, TopK-10 and -1 in
onnx/defs/math (defs.cc and old.cc).
"""

from __future__ import annotations

from graphfix.authoring.building import Builder
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView
from graphfix.opset.adapting import Adapted, adapter, axes_of, need_rank, respell


@adapter("Slice", 10, 9)
def slice_down(node: NodeView, build: Builder) -> Adapted:
    """The bounds were attributes, and the step was 1."""
    starts = axes_of(node.need(1), "starts", build) or []
    ends = axes_of(node.need(2), "ends", build) or []
    axes = axes_of(node.input(3), "axes", build)
    steps = axes_of(node.input(4), "steps", build) or []
    if any(step != 1 for step in steps):
        raise Refuse("opset 9 has no step but 1")
    if axes is None:
        axes = list(range(len(starts)))
    elif any(axis < 0 for axis in axes):
        rank = need_rank(node.need(0))
        axes = [axis % rank for axis in axes]
    return build.Slice(node.need(0), starts=starts, ends=ends, axes=axes)


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
        raise Refuse("Upsample does not make smaller")
    return build.Upsample(node.need(0), node.need(1), mode=node.attr("mode", "nearest"))


@adapter("Upsample", 9, 10)
def upsample_up(node: NodeView, build: Builder) -> Adapted:
    """It is called Resize and maps coordinates in the same way."""
    return build.Resize(node.need(0), node.need(1), mode=node.attr("mode", "nearest"))
