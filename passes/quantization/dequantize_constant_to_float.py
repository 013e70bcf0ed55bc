"""Dequantize constants while the model is repaired.

What it does: A DequantizeLinear of a constant becomes the floating point constant that it gives.
Why engines need it: TensorRT takes no zero points, no uint8 and no int32 here: biases are quantized
    to int32 by most tools, and weights of onnxruntime's tools are uint8 with a zero point, or have
    4 bits and negative scales, which it refuses.
Before: b = DequantizeLinear (int32 constant, scale)
After: b = float constant
When it refuses: The tensor, the scale or the zero point is computed at run time, the scale is not
    float32, or there are more than max_elements elements.
Accuracy: Exact: (x - zero point) * scale in float32, as the operator does, with the scale of the
    block where there are blocks. Weights that were stored in a byte or half of one take four in the
    file.
References: https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html
"""

from graphfix.authoring import Builder, NodeView, Option, Value, rewrite

from ._dequantizing import constant_as_float


@rewrite(
    "DequantizeLinear",
    removes=(
        "attr:DequantizeLinear.* attr:QuantizeLinear.scale dtype:DequantizeLinear.* "
        "op:DequantizeLinear shape:DequantizeLinear.*"
    ),
    options={"max_elements": Option(int, 1 << 26, "Larger constants are refused.")},
)
def dequantize_constant_to_float(node: NodeView, build: Builder) -> Value:
    """Compute the constant, see the module."""
    return constant_as_float(node, build, build.option("max_elements"))
