"""Replace DeformConv of images by GridSample and a product with the weights.

What it does: Works out where each weight of the kernel reads, samples these places by one
    GridSample, multiplies by the mask, and weighs the samples by a MatMul.
Why engines need it: OpenVINO: "No conversion rule found for operations: DeformConv-19"; most other
    engines have none either. torch.onnx writes it for torchvision.ops.deform_conv2d.
Before: y = DeformConv <kernel_shape = [3, 3]> (x, w, offset, b, mask)
After:
    grid = Transpose ((offset + place) * 2 / [H, W] + 1 / [H, W] - 1)
    y = MatMul (Reshape (w, [groups, O / groups, C * 9]), Reshape (GridSample (x, grid) * mask)) + b
When it refuses: There are not two spatial axes, a size other than the batch is unknown, or the type
    is not float32.
Accuracy: Exact up to rounding, that of the places among it.
References: https://onnx.ai/onnx/operators/onnx__DeformConv.html, onnx__GridSample.html;
    pytorch/vision torchvision/csrc/ops/cpu/deform_conv2d_kernel.cpp
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, deform_conv, rewrite


@rewrite(
    "DeformConv",
    removes="op:DeformConv",
    emits="Add Gather GridSample MatMul Mul Reshape Transpose",
)
def deform_conv_to_grid_sample(node: NodeView, build: Builder) -> Value:
    """Sample, then weigh, see the module."""
    if node.need(0).type_name != "float32":
        raise Refuse(f"x must be float32; its type is {node.need(0).type_name}")
    return deform_conv(node, build)
