"""Quantize by arithmetic what quantized operators read.

What it does: Divides by the scale, rounds, adds the zero point, limits to the range of the type and
    casts.
Why engines need it: TensorRT's QuantizeLinear takes zero points of zero only, and gives no uint8.
Before: q = QuantizeLinear (x, scale, zero)            # uint8
After: q = Cast <to = 2> (Clip (Add (Round (Div (x, scale)), zero), 0, 255))
When it refuses: Only DequantizeLinear reads the numbers, with which it goes together; they have not
    8 bits; the scale is neither float32 nor float16; the rank is unknown where the scale goes along
    an axis, or a size where it is given by blocks.
Accuracy: Exact: halves go to the even neighbour, as the operator says. Where the cast goes later,
    NaN stays NaN, of which QuantizeLinear makes a number, the least in onnxruntime; so it does here
    where the scale, or one whose numbers get here, is infinite or next to it.
References: https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html;
    builtin_op_importers.cpp:1155-1253 of onnx-tensorrt, release 8.6; microsoft/onnxruntime
    onnxruntime/core/mlas/lib/quantize.cpp
"""

from graphfix.authoring import Builder, NodeView, Value, rewrite

from ._late_scales import LATE_EMITS
from ._parameters import EMITTED
from ._quantizing import quantized

_OP = "QuantizeLinear"


@rewrite(
    _OP,
    removes=(f"attr:{_OP}.*", f"const:{_OP}.*", f"dtype:{_OP}.*", f"form:{_OP}.*", f"op:{_OP}"),
    emits=(*EMITTED, *LATE_EMITS),
)
def quantize_to_arithmetic(node: NodeView, build: Builder) -> Value:
    """Round and limit, see the module."""
    return quantized(node, build)
