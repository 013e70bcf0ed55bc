"""Write QuantizeLinear followed by DequantizeLinear in floating point numbers.

What it does: The pair divides by the scale, rounds, limits to the range of the type and multiplies
    by the scale; the zero point shifts the limits. That is written as Div, Round, Clip and Mul, and
    an Add that takes the sign off a zero.
Why engines need it: TensorRT quantizes symmetrically: a zero point other than 0 is refused, and so
    is uint8.
Before:
    q = QuantizeLinear (x, scale, zero_point)
    y = DequantizeLinear (q, scale, zero_point)
After:
    steps = Clip (Round (Div (x, scale)), -128 - zero_point, 127 - zero_point)
    y = Mul (Add (steps, 0), scale)
When it refuses: What is dequantized does not come from QuantizeLinear, a scale or zero point is
    computed at run time, given by blocks or not float32, or the type is none of 4, 8 or 16 bits,
    nor float8 without a zero point.
Accuracy: Exact: all numbers between the two are whole and small. NaN stays NaN, where
    QuantizeLinear leaves open what it becomes; but where a scale makes it that is infinite or next
    to it, it becomes the least number, as in onnxruntime. The engine computes in floating point
    what it may have computed in integers.
References: https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html;
    https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html
"""

from graphfix.authoring import Builder, NodeView, Value, rewrite

from ._dequantizing import PAIR_EMITS, pair_as_floats


@rewrite(
    "DequantizeLinear",
    removes=(
        "attr:DequantizeLinear.* const:DequantizeLinear.scale dtype:DequantizeLinear.* "
        "op:DequantizeLinear"
    ),
    emits=PAIR_EMITS,
    since=11,
)
def quantize_dequantize_to_clip(node: NodeView, build: Builder) -> Value:
    """Round and limit, see the module."""
    return pair_as_floats(node, build)
