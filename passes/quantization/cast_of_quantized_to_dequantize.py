"""Dequantize what was quantized by a scale of one instead of casting it.

What it does: DequantizeLinear with a scale of 1 and a zero point of 0 gives the values that the
    Cast gives. What is no float32 is cast to its type afterwards.
Why engines need it: OpenVINO reads QuantizeLinear, Cast, Sub and Mul as one operator whose result
    has the shape of what is quantized, though the factor is computed at run time and is larger.
Before: y = Mul (Cast (QuantizeLinear (x, s, z), float), w)
After: y = Mul (DequantizeLinear (QuantizeLinear (x, s, z), 1.0, 0), w)
When it refuses: The input is no result of QuantizeLinear, and has not 8 bits, or 16 from opset 21
    on; the result is no floating point number of 16 to 64 bits.
Accuracy: Exact: every number of 16 bits is one of float32.
References: https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html; OpenVINO 2026.4.1, measured
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_SIXTEEN_BITS = 21  # the opset
_FLOATS = (TensorProto.FLOAT16, TensorProto.FLOAT, TensorProto.DOUBLE)


@rewrite("Cast", removes="form:Cast.quantized", emits="Cast DequantizeLinear", since=10)
def cast_of_quantized_to_dequantize(node: NodeView, build: Builder) -> Value:
    """Dequantize by one, see the module."""
    x, kind = node.need(0), node.attr("to")
    if x.producer is None or x.producer.op != "QuantizeLinear":
        raise Refuse(f"{x.name} must come from QuantizeLinear; it does not")
    wide = ("int16", "uint16") if build.opset >= _SIXTEEN_BITS else ()
    if x.type_name not in ("int8", "uint8", *wide):
        raise Refuse(f"{x.name} must be integers that DequantizeLinear takes; it is {x.type_name}")
    if kind not in _FLOATS:
        raise Refuse("the result must be float16, float32 or float64; it is not")
    zero = build.constant(np.array(0, x.dtype))
    made = build.DequantizeLinear(x, build.constant(np.array(1, np.float32)), zero)
    return made if kind == TensorProto.FLOAT else build.Cast(made, to=kind)
