"""Take a maximum or minimum over several axes along one axis after the other.

What it does: Writes a ReduceMax or ReduceMin for each axis, from the last one on.
Why engines need it: ncnn reads one axis or all of them ("layer ReduceMax not exists or
    registered").
Before: y = ReduceMax <axes = [1, 2], keepdims = 0> (x)
After:
    a = ReduceMax <axes = [2], keepdims = 0> (x)
    y = ReduceMax <axes = [1], keepdims = 0> (a)
When it refuses: The axes are computed, or fewer than two; one of them is negative where the rank is
    not known.
Accuracy: Exact for numbers and infinities. Which of them NaN hides depends on the order in which an
    engine takes them.
References: measured on ncnn 1.0.20261020 and pnnx 20261020
    https://onnx.ai/onnx/operators/onnx__ReduceMax.html
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite(
    ("ReduceMax", "ReduceMin"),
    removes="attr:ReduceMax.axes attr:ReduceMin.axes",
    emits="ReduceMax ReduceMin",
    claims="inf",
)
def reduce_extremes_one_by_one(node: NodeView, build: Builder) -> Value:
    """Write one node for each axis, see the module."""
    x = node.need(0)
    given = node.input(1)
    axes = node.attr("axes", ()) if given is None else build.need_const(given, "the axes")
    whole = [int(axis) for axis in axes]
    if len(whole) < 2:
        raise Refuse(f"there must be several axes; there are {len(whole)}")
    if x.rank is None and min(whole) < 0:
        raise Refuse(f"the rank of {x.name} must be known where axes are counted from its end")
    places = {axis % x.rank if x.rank is not None else axis for axis in whole}
    value = x
    for axis in sorted(places, reverse=True):
        value = build.node(node.op, value, axes=[axis], keepdims=int(node.attr("keepdims", 1)))
    return value
