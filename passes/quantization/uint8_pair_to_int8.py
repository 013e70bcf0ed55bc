"""Quantize to int8 without a zero point instead of uint8 with one.

What it does: A QuantizeLinear and DequantizeLinear of uint8 around 128 become those of int8 around
    0.
Why engines need it: TensorRT quantizes to int8 without a zero point. Only such a pair lets it
    compute in int8; quantize-dequantize-to-clip keeps the numbers, and leaves the engine to floats.
Before: y = DequantizeLinear (QuantizeLinear (x, scale, 128), scale, 128)          # uint8
After: y = DequantizeLinear (QuantizeLinear (x, scale, 0), scale, 0)              # int8
When it refuses: The numbers do not come from a QuantizeLinear of float32 with the same scale and
    zero point, or these are computed at run time, given by blocks or not float32; a zero point
    other than 128, which asymmetric-pair-to-int8 takes with --allow-lossy.
Accuracy: Exact: uint8 less 128 is int8, at the ends too.
References: https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html;
    builtin_op_importers.cpp:1155-1253 of onnx-tensorrt, release 8.6
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._reading import quantized_type, scale_of, zero_of

_MIDDLE = 128


@rewrite(
    "DequantizeLinear",
    removes="attr:DequantizeLinear.* dtype:DequantizeLinear.*",
    emits="DequantizeLinear QuantizeLinear",
)
def uint8_pair_to_int8(node: NodeView, build: Builder) -> Value:
    """Quantize to int8, see the module."""
    maker = node.need(0).producer
    if maker is None or maker.domain or maker.op != "QuantizeLinear":
        raise Refuse(f"{node.need(0).name} must come from QuantizeLinear; it does not")
    x, kind = maker.need(0), quantized_type(maker)
    if kind != TensorProto.UINT8 or x.elem_type != TensorProto.FLOAT:
        raise Refuse("float32 must be quantized to uint8; it is not")
    scale, zero = scale_of(maker, build, x.rank), zero_of(maker, build, x.rank)
    same = np.array_equal(scale, scale_of(node, build, x.rank))
    if not same or not np.array_equal(zero, zero_of(node, build, x.rank)):
        raise Refuse("both must have one scale and zero point; they differ")
    if (zero != _MIDDLE).any():
        raise Refuse(f"the zero point must be {_MIDDLE}; it is not")
    flat = build.constant(scale.reshape(-1) if scale.ndim else scale)
    none = build.constant(np.zeros(scale.size if scale.ndim else (), np.int8))
    axis = {"axis": int(node.attr("axis", 1))} if scale.ndim else {}
    return build.DequantizeLinear(build.QuantizeLinear(x, flat, none, **axis), flat, none, **axis)
