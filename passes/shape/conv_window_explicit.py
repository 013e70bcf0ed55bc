"""Write the window of a convolution down that ONNX lets out.

What it does: Adds `kernel_shape`, which is the shape of the weight without its first two axes.
Why engines need it: TensorRT reads the window of a Conv whose weight or bias is computed from the
    attribute alone: "The input tensor shape misaligns with the input kernel shape." OpenCV 4 takes
    no Conv and no ConvTranspose without it, and MNN none over three dimensions.
Before: y = Conv (x, w)
After: y = Conv <kernel_shape = [3, 3]> (x, w)
When it refuses: The attribute is there, or a size of the weight is unknown.
Accuracy: Exact: it is the default of the attribute.
References: https://onnx.ai/onnx/operators/onnx__Conv.html; onnx/onnx-tensorrt 8.6.1
    onnx2trt_utils.cpp (convMultiInput); measured on OpenCV 4.10.0 and MNN 3.6.1
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite


@rewrite(
    ("Conv", "ConvTranspose"),
    removes="attr:Conv.no-kernel_shape attr:ConvTranspose.no-kernel_shape",
    emits="Conv ConvTranspose",
)
def conv_window_explicit(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Rewrite one node."""
    if node.has("kernel_shape"):
        raise Refuse("the window must be left out; it is explicit")
    weight = node.need(1)
    sizes = [weight.dim(axis) for axis in range(2, weight.rank or 0)]
    if not sizes or None in sizes:
        raise Refuse(f"the sizes of {weight.name} must be known")
    return respell(node, build, kernel_shape=sizes)
