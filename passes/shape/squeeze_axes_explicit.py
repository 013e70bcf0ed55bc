"""Write the axes on a Squeeze that has none.

What it does: Names the axes of size 1, from the shape of the input or, where some sizes are
    unknown, from the rank of the output: when it says that no more than the sizes known to be 1 go,
    the others are not 1.
Why engines need it: TensorRT cannot tell which axes go while sizes are dynamic ("Cannot infer
    squeeze dimensions from a dynamic shape!"), and up to 7.x it needs the attribute.
Before: y = Squeeze (x)              # x: float[1,3,1,8]
After: y = Squeeze <axes = [0, 2]> (x)
When it refuses: An unknown rank; a size that is unknown and may be 1.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Squeeze.html onnx/onnx-tensorrt 8.6
    builtin_op_importers.cpp:4773
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, needed, rewrite


@rewrite("Squeeze", removes="form:Squeeze.no-axes", emits="Squeeze")
def squeeze_axes_explicit(node: NodeView, build: Builder) -> Value:
    """Rewrite one Squeeze."""
    if node.input(1) is not None or node.attr("axes"):
        raise Refuse("the axes must be left out; they are given")
    data, output = node.need(0), node.output(0)
    shape = needed(data.shape, "the rank of the input must be known")
    ones = [axis for axis, size in enumerate(shape) if size == 1]
    open_axes = [axis for axis, size in enumerate(shape) if not isinstance(size, int)]
    if open_axes:
        left = output.rank if output is not None else None
        if left is None or left != len(shape) - len(ones):
            raise Refuse(
                f"the size of axis {open_axes[0]} must be known; it is not, and may be 1: say it "
                "with --shape"
            )
    return build.Squeeze(data, axes=ones) if ones else data
