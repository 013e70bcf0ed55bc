"""Write the axes of a Slice down.

What it does: A Slice without axes cuts the leading axes, as many as it has starts; they are written
    as a constant.
Why engines need it: TensorRT takes omitted axes for all axes and refuses fewer starts; with steps
    after the omitted axes its parser crashes.
Before: y = Slice (x, [1], [3])                  x: rank 2
After: y = Slice (x, [1], [3], axes = [0])
When it refuses: The axes are given, or the number of starts is not known.
Accuracy: Exact: no number changes.
References: https://onnx.ai/onnx/operators/onnx__Slice.html; onnx/onnx-tensorrt
    builtin_op_importers.cpp (8.6), Slice
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_MOST = 64  # axes of any tensor: a damaged file may say that there are more than memory holds


@rewrite(
    "Slice",
    removes="form:Slice.lengths form:Slice.steps-without-axes form:Slice.no-axes",
    emits="Slice",
    since=10,
)
def slice_axes_explicit(node: NodeView, build: Builder) -> Value:
    """Write the axes, see the module."""
    if node.input(3) is not None:
        raise Refuse("the axes must be left out; they are given")
    starts, ends = node.need(1), node.need(2)
    count = starts.dim(0)
    if count is None:
        count = ends.dim(0)
    if count is None:
        raise Refuse(f"the length of {starts.name} must be known")
    most = node.need(0).rank
    if count > (_MOST if most is None else most):
        raise Refuse(f"{starts.name} must have a number for each axis at most; it has {count}")
    return build.Slice(
        node.need(0), starts=starts, ends=ends, axes=list(range(count)), steps=node.input(4)
    )
