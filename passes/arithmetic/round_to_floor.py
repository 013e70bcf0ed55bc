"""Replace Round by Floor and comparisons.

What it does: Adds 1 to the number below where the rest is above one half, or is one half and the
    number below is odd: halves go to the even neighbour, as Round says.
Why engines need it: TensorRT has an importer for Round from 8.2 on.
Before: y = Round (x)
After:
    f = Floor (x)
    y = Add (f, Cast (Or (Greater (x - f, 0.5), And (x - f not below 0.5, f odd))))
When it refuses: The dtype is not a floating point type.
Accuracy: Exact: no step rounds. Infinities and NaN stay; the sign of a zero may be lost.
References: https://onnx.ai/onnx/operators/onnx__Round.html
"""

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Value, need_type, rewrite

_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)


@rewrite(
    "Round",
    removes="op:Round dtype:Round.*",
    emits="Add And Cast Floor Greater Less Mul Not Or Sub",
    claims="nan inf",
    since=11,
)
def round_to_floor(node: NodeView, build: Builder) -> Value:
    """Round half to even, see the module."""
    x = node.need(0)
    need_type(x, _FLOATS)
    below = build.Floor(x)
    rest = build.Sub(x, below)
    pairs = build.Mul(build.Floor(build.Mul(below, 0.5)), 2.0)
    odd = build.Greater(build.Sub(below, pairs), 0.5)
    tie_or_more = build.Not(build.Less(rest, 0.5))
    up = build.Or(build.Greater(rest, 0.5), build.And(tie_or_more, odd))
    # The rest of an infinity is NaN: whatever is added to it then changes nothing.
    return build.Add(below, build.Cast(up, to=x.elem_type))
