"""Replace com.microsoft's QuantizeLinear and DequantizeLinear by ONNX's.

What it does: Writes the operator of ONNX of that name where it has the element type at hand in the
    opset; else, for numbers of 16 bits below opset 21, the arithmetic.
Why engines need it: onnxruntime's quantizer writes them into com.microsoft for types that ONNX did
    not have; engines that know ONNX's do not know these.
Before: y = com.microsoft.DequantizeLinear (q, 0.1, 3)                 # q is uint16
After: y = Mul (Sub (Cast <to = 1> (q), 3), 0.1)
When it refuses: The scale is not float32; a rank is unknown where scales go along an axis; the
    scale or zero point of 16 bits is computed at run time.
Accuracy: Exact: the same operations in the same order.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.QuantizeLinear,
    com.microsoft.DequantizeLinear; onnxruntime/core/providers/cpu/quantization/quantize_linear.cc
"""

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Array,
    Builder,
    NodeView,
    Refuse,
    Value,
    need_rank,
    rewrite,
)

_QUANTIZE, _DEQUANTIZE = "com.microsoft::QuantizeLinear", "com.microsoft::DequantizeLinear"
_OLD = (TensorProto.INT8, TensorProto.UINT8, TensorProto.INT32)
_RANGES = {int(TensorProto.INT16): (-32768, 32767), int(TensorProto.UINT16): (0, 65535)}


@rewrite(
    (_QUANTIZE, _DEQUANTIZE),
    emits="Add Cast Clip DequantizeLinear Div Mul QuantizeLinear Round Sub",
)
def contrib_quantize_to_onnx(node: NodeView, build: Builder) -> Value:
    """Write ONNX's operator or the arithmetic, see the module."""
    x, scale, zero = node.need(0), node.need(1), node.input(2)
    if scale.elem_type != TensorProto.FLOAT:
        raise Refuse(f"the scale {scale.name} must be float32; it is {scale.type_name}")
    kind = x.elem_type
    if node.op == "QuantizeLinear":
        kind = int(TensorProto.UINT8) if zero is None else zero.elem_type
    several = scale.rank != 0 and scale.static_shape != (1,)
    if (kind in _OLD and not (several and build.opset < 13)) or build.opset >= 21:
        axis = int(node.attr("axis", 1)) if several else None
        return build.multi(node.op, x, scale, zero, outputs=1, axis=axis)[0]
    return _written(node, build, kind, several=several)


def _written(node: NodeView, build: Builder, kind: int, *, several: bool) -> Value:
    x = node.need(0)
    factor = build.need_const(node.need(1), "the scale")
    given = node.input(2)
    zero = np.zeros((), np.float32)
    if given is not None:
        zero = build.need_const(given, "the zero point").astype(np.float32)
    if several:
        rank = need_rank(x)
        shape = [1] * rank
        shape[int(node.attr("axis", 1))] = -1
        factor, zero = factor.reshape(shape), _along(zero, shape)
    else:
        factor, zero = factor.reshape(()), zero.reshape(())
    if node.op == "DequantizeLinear":
        number = build.Cast(x, to=TensorProto.FLOAT)
        return build.Mul(build.Sub(number, zero) if zero.any() else number, factor)
    if kind not in _RANGES or build.opset < 11:
        raise Refuse("numbers of 8 or 16 bits must be asked for, and Round be there (opset 11)")
    low, high = (np.float32(bound) for bound in _RANGES[kind])
    steps = build.Add(build.Round(build.Div(x, factor)), zero)
    limited = build.Clip(steps, build.constant(low), build.constant(high))
    return build.Cast(limited, to=kind)


def _along(zero: Array, shape: Sequence[int]) -> Array:
    return zero.reshape(shape) if zero.size > 1 else zero.reshape(())
