"""Dequantize constants while the model is repaired.

What it does:
    A DequantizeLinear of a constant becomes the floating point constant that it gives.

Why engines need it:
    TensorRT takes no zero points, no uint8 and no int32 here: biases are quantized to int32 by
    most tools, and weights of onnxruntime's tools are uint8 with a zero point.

Before:
    b = DequantizeLinear (int32 constant, scale)

After:
    b = float constant

When it refuses:
    The tensor, the scale or the zero point is computed at run time, the scale is not float32 or
    given by blocks, or there are more than max_elements elements.

Accuracy:
    Exact: (x - zero point) * scale in float32, as the operator does. Weights that were stored in
    a byte take four in the file.

References:
    https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring import Builder, NodeView, Option, Refuse, Value, rewrite
from graphfix.passes.quantization._reading import scale_of, zero_of


@rewrite(
    "DequantizeLinear",
    removes="attr:DequantizeLinear.* dtype:DequantizeLinear.* op:DequantizeLinear",
    options={"max_elements": Option(int, 1 << 26, "Larger constants are refused.")},
)
def dequantize_constant_to_float(node: NodeView, build: Builder) -> Value:
    """Compute the constant, see the module."""
    x = node.need(0)
    if x.static_shape is not None and np.prod(x.static_shape) > build.option("max_elements"):
        raise Refuse(f"{x.name} must have at most max_elements elements; it has more")
    array = build.need_const(x, "the quantized tensor")
    if array.dtype.kind not in "iu":
        raise Refuse(f"{x.name} must be an integer; it is {x.type_name}")
    scale = scale_of(node, build, array.ndim)
    whole = array.astype(np.int64) - zero_of(node, build, array.ndim)
    output = node.output(0)
    # An output of the graph keeps its name by an Identity behind the constant.
    name = "" if output is None or output.is_graph_output else output.name
    return build.constant(whole.astype(np.float32) * scale, replaces=name)
