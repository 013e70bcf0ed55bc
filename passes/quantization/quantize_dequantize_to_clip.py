"""Write QuantizeLinear followed by DequantizeLinear in floating point numbers.

What it does:
    The pair divides by the scale, rounds, limits to the range of the type and multiplies by the
    scale; the zero point shifts the limits. That is written as Div, Round, Clip and Mul,
    and an Add that takes the sign off a zero.

Why engines need it:
    TensorRT quantizes symmetrically: a zero point other than 0 is refused, and so is uint8.

Before:
    q = QuantizeLinear (x, scale, zero_point)
    y = DequantizeLinear (q, scale, zero_point)

After:
    steps = Clip (Round (Div (x, scale)), -128 - zero_point, 127 - zero_point)
    y = Mul (Add (steps, 0), scale)

When it refuses:
    What is dequantized does not come from QuantizeLinear, a scale or zero point is computed at
    run time, given by blocks or not float32, or the type is not one of 8 or 16 bits.

Accuracy:
    Exact: all numbers between the two are whole and small. NaN stays NaN, where QuantizeLinear
    leaves open what it becomes. The engine computes in floating point what it may have computed
    in integers.

References:
    https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html;
    https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, rewrite
from graphfix.passes.quantization._reading import RANGES, quantized_type, scale_of, zero_of


@rewrite(
    "DequantizeLinear",
    removes="attr:DequantizeLinear.* dtype:DequantizeLinear.* op:DequantizeLinear",
    emits="Add Clip Div Max Min Mul Round",
    since=11,
)
def quantize_dequantize_to_clip(node: NodeView, build: Builder) -> Value:
    """Round and limit, see the module."""
    quantized = node.need(0)
    maker = quantized.producer
    if maker is None or maker.op != "QuantizeLinear" or maker.domain:
        raise Refuse(f"{quantized.name} must come from QuantizeLinear; it does not")
    x = maker.need(0)
    if x.elem_type != TensorProto.FLOAT:
        raise Refuse(f"what is quantized must be float32; it is {x.type_name}")
    kind = quantized_type(maker)
    if kind not in RANGES:
        raise Refuse(f"{quantized.name} must be of 8 or 16 bits; it is not")
    rank = x.rank
    zero = zero_of(maker, build, rank)
    steps = build.Round(build.Div(x, scale_of(maker, build, rank)))
    low, high = (bound - zero for bound in RANGES[kind])
    # Round gives -0.0 where an integer is 0; adding, even 0, makes it what the integer becomes.
    shift = zero - zero_of(node, build, rank)
    whole = build.Add(_limited(build, steps, low, high), shift.astype(np.float32))
    return build.Mul(whole, scale_of(node, build, rank))


def _limited(build: Builder, x: Value, low: Array, high: Array) -> Value:
    if low.ndim == 0:
        return build.Clip(x, min=np.float32(low), max=np.float32(high))
    return build.Min(build.Max(x, low.astype(np.float32)), high.astype(np.float32))
