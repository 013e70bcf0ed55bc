"""From opset 5 to 6.

References: Cast-1 and Tile-1 in onnx/defs/tensor, Clip-1 in onnx/defs/math (old.cc).
"""

from __future__ import annotations

from math import inf

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, need_rank, respell
from graphfix.opset.adapting import Adapted, adapter


@adapter("Cast", 5, 6)
def cast_up(node: NodeView, build: Builder) -> Adapted:
    """The type was a name, in any case of letters; files have numbers there, too."""
    given = node.attr("to")
    if not isinstance(given, str):
        return respell(node, build)
    number = dict(TensorProto.DataType.items()).get(given.upper())
    if number is None:
        raise Refuse(f"Cast to {given!r}, which is no element type")
    return respell(node, build, to=int(number))


@adapter("Clip", 5, 6)
def clip_up(node: NodeView, build: Builder) -> Adapted:
    """A bound that is not given bounds nothing; since, it is the largest number by default."""
    low, high = node.attr("min"), node.attr("max")
    if low is None and high is None:
        return build.Identity(node.need(0))
    low, high = (-inf if low is None else low), (inf if high is None else high)
    return respell(node, build, drop=("consumed_inputs",), min=low, max=high)


@adapter("Tile", 5, 6)
def tile_up(node: NodeView, build: Builder) -> Adapted:
    """One axis was repeated; since, there is a number for each."""
    rank = need_rank(node.need(0))
    times = int(build.need_const(node.need(1), "tiles").reshape(()))
    axis = int(build.need_const(node.need(2), "axis").reshape(()))
    repeats = [1] * rank
    repeats[axis] = times
    return build.Tile(node.need(0), repeats)
