"""Dequantize what is computed at run time by arithmetic.

What it does: Casts the quantized numbers to float32, subtracts the zero point and multiplies by the
    scale, which each element of a block shares.
Why engines need it: TensorRT's DequantizeLinear takes int8 with zero points of zero, and no uint8
    or int32.
Before: y = DequantizeLinear (x, scale, zero)            # uint8
After: y = Mul (Sub (Cast <to = 1> (x), Cast <to = 1> (zero)), scale)
When it refuses: The numbers come from a QuantizeLinear, with which they go together; they have
    neither 16 bits at most nor 32 and no zero point; the scale is not float32; the rank is unknown,
    or a size where the scale is given by blocks.
Accuracy: Exact: (x - zero point) * scale in float32, as the operator does; float32 holds every
    difference of 16 bits, and an int32 is rounded once, as it is there.
References: https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html;
    builtin_op_importers.cpp:1155-1253 of onnx-tensorrt, release 8.6
"""

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_type, rewrite

from ._late_scales import LATE_EMITS, broadcast_late

_SHORT = (TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.UINT16)
_OP = "DequantizeLinear"


@rewrite(
    _OP,
    removes=(f"dtype:{_OP}.*", f"attr:{_OP}.*", f"form:{_OP}.*", f"const:{_OP}.*", f"op:{_OP}"),
    emits=("Cast", "Mul", "Sub", *LATE_EMITS),
)
def dequantize_to_arithmetic(node: NodeView, build: Builder) -> Value:
    """Subtract and multiply, see the module."""
    x, scale, zero = node.need(0), node.need(1), node.input(2)
    maker = x.producer
    if maker is not None and maker.op == "QuantizeLinear":
        raise Refuse("it must not go together with a QuantizeLinear; it does")
    need_type(x, (*_SHORT, TensorProto.INT32))
    if x.elem_type == TensorProto.INT32 and zero is not None:
        known = build.need_const(zero, "the zero point of int32")
        if known.any():
            raise Refuse("int32 must have no zero point but 0; it has one")
        zero = None
    if scale.elem_type != TensorProto.FLOAT:
        raise Refuse(f"the scale must be float32; it is {scale.type_name}")
    if node.attr("output_dtype", 0) not in (0, int(TensorProto.FLOAT)):
        raise Refuse("the result must be float32; output_dtype says otherwise")
    whole = build.Cast(x, to=TensorProto.FLOAT)
    if zero is not None:
        number = build.in_type(zero, TensorProto.FLOAT)
        whole = build.Sub(whole, broadcast_late(node, build, zero, number))
    return build.Mul(whole, broadcast_late(node, build, scale, scale))
