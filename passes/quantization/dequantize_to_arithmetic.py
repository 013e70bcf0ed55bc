"""Dequantize what is computed at run time by arithmetic.

What it does:
    Casts the quantized numbers to int32, subtracts the zero point, casts to float32 and multiplies
    by the scale.

Why engines need it:
    TensorRT's DequantizeLinear takes int8 with zero points of zero, and no uint8 or int32.

Before:
    y = DequantizeLinear (x, scale, zero)            # uint8

After:
    y = Mul (Cast <to = 1> (Sub (Cast <to = 6> (x), Cast <to = 6> (zero))), scale)

When it refuses:
    The numbers come from a QuantizeLinear, with which they go together; they have more than 16
    bits; the scale is given by blocks or is not float32; or the rank is unknown.

Accuracy:
    Exact: (x - zero point) * scale in float32, as the operator does.

References:
    https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html; builtin_op_importers.cpp:1155-1253
    of onnx-tensorrt, release 8.6
"""

from __future__ import annotations

from onnx import TensorProto

from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import rewrite
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView, Value
from graphfix.report import EXACT

_TAKEN = (TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.UINT16)
_OP = "DequantizeLinear"


@rewrite(
    _OP,
    removes=(f"dtype:{_OP}.*", f"attr:{_OP}.*", f"form:{_OP}.*", f"const:{_OP}.*", f"op:{_OP}"),
    emits=("Cast", "Mul", "Reshape", "Sub"),
    accuracy=EXACT,
)
def dequantize_to_arithmetic(node: NodeView, build: Builder) -> Value:
    """Subtract and multiply, see the module."""
    x, scale, zero = node.need(0), node.need(1), node.input(2)
    maker = x.producer
    if maker is not None and maker.op == "QuantizeLinear":
        raise Refuse("it goes together with a QuantizeLinear")
    if x.elem_type not in _TAKEN:
        raise Refuse(f"{x.name} is {x.type_name}")
    if scale.elem_type != TensorProto.FLOAT or node.attr("block_size", 0):
        raise Refuse("the scale is given by blocks or is not float32")
    if node.attr("output_dtype", 0) not in (0, int(TensorProto.FLOAT)):
        raise Refuse("the result is not float32")
    if scale.rank is None or (scale.rank == 1 and x.rank is None):
        raise Refuse("a rank is unknown")
    shape: list[int] | None = None
    if scale.rank == 1 and scale.dim(0) != 1:
        assert x.rank is not None
        axis = int(node.attr("axis", 1)) % x.rank
        shape = [-1 if i == axis else 1 for i in range(x.rank)]

    def along(value: Value) -> Value:
        return value if shape is None else build.Reshape(value, shape=shape)

    whole = build.Cast(x, to=TensorProto.INT32)
    if zero is not None:
        whole = build.Sub(whole, along(build.Cast(zero, to=TensorProto.INT32)))
    return build.Mul(build.Cast(whole, to=TensorProto.FLOAT), along(scale))
