"""Between opset 15 and 14.

References: Shape-15 in onnx/defs/tensor, CastLike-15 in onnx/defs/tensor.
"""

from __future__ import annotations

from graphfix.authoring import Builder, NodeView, need_elem_type
from graphfix.opset.adapting import KEEP, Adapted, adapter


@adapter("Shape", 15, 14)
def shape_down(node: NodeView, build: Builder) -> Adapted:
    """Start and end become a Slice of the whole shape, which clamps as they do."""
    if not node.has("start") and not node.has("end"):
        return KEEP
    data = node.need(0)
    whole = build.Shape(data)
    start = int(node.attr("start", 0))
    end = int(node.attr("end", 2**63 - 1))
    if _takes_all(start, end, data.rank):
        return whole
    return build.Slice(whole, starts=[start], ends=[end], axes=[0])


def _takes_all(start: int, end: int, rank: int | None) -> bool:
    """Say whether a range holds every dimension, so that no Slice is needed."""
    if rank is None:
        return start == 0 and end == 2**63 - 1
    return range(rank)[start:end] == range(rank)


@adapter("CastLike", 15, 14)
def cast_like_down(node: NodeView, build: Builder) -> Adapted:
    """The type of the second input is known, so that a Cast does."""
    return build.Cast(node.need(0), to=need_elem_type(node.need(1)))
