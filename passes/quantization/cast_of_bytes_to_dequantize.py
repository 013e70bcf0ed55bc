"""Dequantize constant bytes by a scale of one instead of casting them.

What it does: Where weights are kept as int8 and cast to float32, DequantizeLinear with a scale of 1
    and a zero point of 0 gives the same values, and the file does not grow.
Why engines need it: TensorRT's builder takes a constant of int8 where DequantizeLinear reads it,
    and nowhere else.
Before: y = Cast (w, float)                w: constant of int8
After: y = DequantizeLinear (w, 1.0, 0)
When it refuses: The input is computed, or no int8; the result is no float32.
Accuracy: Exact: every number of 8 bits is one of float32.
References: https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html; NVIDIA/TensorRT issue 3919
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("Cast", removes="dtype:Cast.int8-constant", emits="DequantizeLinear", since=10)
def cast_of_bytes_to_dequantize(node: NodeView, build: Builder) -> Value:
    """Dequantize by one, see the module."""
    x = node.need(0)
    if not x.is_constant or x.elem_type != TensorProto.INT8:
        raise Refuse(f"{x.name} must be a constant of int8; it is not")
    if node.attr("to") != TensorProto.FLOAT:
        raise Refuse("the result must be float32; it is not")
    one = build.constant(np.array(1, np.float32))
    return build.DequantizeLinear(x, one, build.constant(np.array(0, np.int8)))
