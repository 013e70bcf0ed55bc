"""Quantize constants while the model is repaired.

What it does: A QuantizeLinear of a constant, or of one that is dequantized first, becomes the
    constant of the same type that it gives; the DequantizeLinear after it stays.
Why engines need it: Tools that quantize leave such pairs where several biases share one tensor.
    OpenVINO fails to compile a sum or a product of one with what it dequantizes at run time.
Before: y = DequantizeLinear (QuantizeLinear (w, s, z), s, z)        # w: a constant
After: y = DequantizeLinear (constant of int8, s, z)
When it refuses: The tensor, the scale or the zero point is computed at run time, is not finite or
    not float32; the type has not 8 or 16 bits, or there are more than max_elements elements.
Accuracy: Exact: divided in float32, rounded to the nearest, ties to even, and saturated, as the
    operator does it.
References: https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html; asked of OpenVINO 2026.4.1
"""

import numpy as np
from onnx import TensorProto, helper

from graphfix.authoring import Array, Builder, NodeView, Option, Refuse, Value, respell, rewrite

from ._dequantizing import dequantized
from ._reading import RANGES, by_element, quantized_type

_WHOLE = (TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.UINT16)


@rewrite(
    "DequantizeLinear",
    removes="const:QuantizeLinear.input",
    emits="DequantizeLinear",
    options={"max_elements": Option(int, 1 << 26, "Larger constants are refused.")},
)
def constant_quantized_early(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Compute the constant, see the module."""
    maker = node.need(0).producer
    if maker is None or maker.op != "QuantizeLinear" or maker.domain:
        raise Refuse(f"{node.need(0).name} must come from QuantizeLinear; it does not")
    kind = quantized_type(maker)
    if kind not in _WHOLE:
        raise Refuse(f"{node.need(0).name} must be integers of 8 or 16 bits; it is not")
    x = _read(maker.need(0), build, int(build.option("max_elements")))
    scale = build.need_const(maker.need(1), f"the scale of {maker.op}")
    if {x.dtype, scale.dtype} != {np.dtype(np.float32)} or maker.attr("precision", 0):
        raise Refuse("tensor and scale must be float32, and divided in it; they are not")
    if not np.isfinite(x).all():
        raise Refuse(f"{maker.need(0).name} must be finite; it is not")
    zero = np.zeros((), np.float64)
    if maker.input(2) is not None:
        zero = build.need_const(maker.need(2), f"the zero point of {maker.op}").astype(np.float64)
    with np.errstate(all="ignore"):
        steps = x / by_element(maker, scale, x.shape)
    if np.isnan(steps).any():
        raise Refuse("the scale must not be 0 where the tensor is; it is")
    low, high = RANGES[kind]
    whole = np.clip(np.rint(steps.astype(np.float64)) + by_element(maker, zero, x.shape), low, high)
    made = build.constant(whole.astype(helper.tensor_dtype_to_np_dtype(kind)))
    return respell(node, build, x=made)


def _read(x: Value, build: Builder, most: int) -> Array:
    """Return the elements of a constant, which may be dequantized."""
    if x.static_shape is not None and np.prod(x.static_shape) > most:
        raise Refuse(f"{x.name} must have at most max_elements elements; it has more")
    maker = x.producer
    if maker is not None and maker.op == "DequantizeLinear" and not maker.domain:
        return dequantized(maker, build, most)
    return build.need_const(x, "the tensor that is quantized")
