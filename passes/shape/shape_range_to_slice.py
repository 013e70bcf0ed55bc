"""Give Shape with start or end as Shape and Slice.

What it does: Takes the whole shape, and the part that `start` and `end` name with a Slice. Both
    clamp what lies outside and count negative positions from the end, so they agree on every rank.
Why engines need it: TensorRT before 10.0 never reads `start` and `end`: it gives the whole shape,
    silently. Opsets before 15 do not have them.
Before: s = Shape <start = 1, end = -1> (x)
After:
    all = Shape (x)
    s = Slice (all, {1}, {-1}, {0})
When it refuses: A Shape that has neither `start` nor `end`.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Shape.html onnx/onnx-tensorrt 8.6
    builtin_op_importers.cpp:4444
"""

from graphfix.authoring import FAR, Builder, NodeView, Refuse, Value, rewrite


@rewrite("Shape", removes="form:Shape.start-end", emits="Shape Slice", since=15)
def shape_range_to_slice(node: NodeView, build: Builder) -> Value:
    """Rewrite one Shape."""
    if not node.has("start") and not node.has("end"):
        raise Refuse("a part of the shape must be asked for; all of it is")
    data = node.need(0)
    whole = build.Shape(data)
    start, end = int(node.attr("start", 0)), node.attr("end")
    rank = data.rank
    last = int(end) if end is not None else (rank if rank is not None else FAR)
    return build.Slice(whole, starts=[start], ends=[last], axes=[0])
