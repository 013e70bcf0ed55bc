"""Quantize to int8 without a zero point instead of uint8 with one.

What it does: A QuantizeLinear and DequantizeLinear of uint8 around 128 become those of int8 around
    0. With another zero point the steps become as coarse as 127 of them on the wider side need,
    after a limit to the range that there was; that loses precision and wants consent.
Why engines need it: TensorRT quantizes to int8 without a zero point. Only such a pair lets it
    compute in int8; quantize-dequantize-to-clip keeps the numbers, and leaves the engine to floats.
Before: y = DequantizeLinear (QuantizeLinear (x, scale, 128), scale, 128)          # uint8
After: y = DequantizeLinear (QuantizeLinear (x, scale, 0), scale, 0)              # int8
When it refuses: The numbers do not come from a QuantizeLinear with the same scale and zero point,
    or these are computed at run time, given by blocks or not float32. A zero point other than 128,
    or other than 0 for int8, without --allow-lossy; the error is in the note of the site. The exact
    rewrite goes first: --disable quantize-dequantize-to-clip lets this one be chosen.
Accuracy: Exact for 128: uint8 less 128 is int8, at the ends too. Lossy otherwise: the error is at
    most half of an old and half of a new step.
References: https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html;
    builtin_op_importers.cpp:1155-1253 of onnx-tensorrt, release 8.6
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import LOSSY, Builder, NodeView, Refuse, Value, rewrite

from ._reading import RANGES, quantized_type, scale_of, zero_of

_MIDDLE = {TensorProto.UINT8: 128, TensorProto.INT8: 0}


@rewrite(
    "DequantizeLinear",
    removes="attr:DequantizeLinear.* dtype:DequantizeLinear.*",
    emits="DequantizeLinear Max Min QuantizeLinear",
)
def uint8_pair_to_int8(node: NodeView, build: Builder) -> Value:
    """Quantize to int8, see the module."""
    maker = node.need(0).producer
    if maker is None or maker.domain or maker.op != "QuantizeLinear":
        raise Refuse(f"{node.need(0).name} must come from QuantizeLinear; it does not")
    x, kind = maker.need(0), quantized_type(maker)
    middle = {int(of): at for of, at in _MIDDLE.items()}.get(kind)
    if middle is None or x.elem_type != TensorProto.FLOAT:
        raise Refuse("float32 must be quantized to int8 or uint8; it is not")
    scale, zero = scale_of(maker, build, x.rank), zero_of(maker, build, x.rank)
    same = np.array_equal(scale, scale_of(node, build, x.rank))
    if not same or not np.array_equal(zero, zero_of(node, build, x.rank)):
        raise Refuse("both must have one scale and zero point; they differ")
    if kind == TensorProto.INT8 and not zero.any():
        raise Refuse("the zero point must be other than 0; it is 0 already")
    if (zero != middle).any():
        low, high = RANGES[kind]
        reach = np.maximum(zero - low, high - zero).astype(np.float32)
        coarse = (scale * reach / np.float32(127)).astype(np.float32)
        error = float(((scale + coarse) / 2).max())
        build.declare(LOSSY, f"steps of 127th parts of the wider side: an error of up to {error:g}")
        # What was cut off at the ends still is.
        ends = [((bound - zero) * scale).astype(np.float32) for bound in (high, low)]
        x = build.Max(build.Min(x, ends[0]), ends[1])
        scale = coarse
    flat = build.constant(scale.reshape(-1) if scale.ndim else scale)
    none = build.constant(np.zeros(scale.size if scale.ndim else (), np.int8))
    axis = {"axis": int(node.attr("axis", 1))} if scale.ndim else {}
    return build.DequantizeLinear(build.QuantizeLinear(x, flat, none, **axis), flat, none, **axis)
