"""Replace com.microsoft's QuantizeLinear and DequantizeLinear by ONNX's.

What it does: Writes the operator of ONNX of that name where it has the element type at hand in the
    opset; else, for numbers of 16 bits below opset 21, the arithmetic. What dequantizes numbers of
    16 bits that are quantized just before reads them as float32, without a cast to 16 bits and
    back, which engines without such a type could not do; contrib-quantize-dequantize-to-clip does
    so in any opset.
Why engines need it: onnxruntime's quantizer writes them into com.microsoft for types that ONNX did
    not have; engines that know ONNX's do not know these.
Before: y = com.microsoft.DequantizeLinear (q, 0.1, 3)                 # q is uint16
After: y = Mul (Sub (Cast <to = 1> (q), 3), 0.1)
When it refuses: The scale is neither float32 nor float16; a rank is unknown where scales go along
    an axis; the scale or zero point of 16 bits is computed at run time.
Accuracy: Exact: the same operations in the same order; float32 holds every number of 16 bits, and
    float16 is divided and multiplied in float32, as in onnxruntime (measured on 1.32.0). A
    NaN that is quantized and dequantized stays NaN, where the cast leaves open what it becomes; but
    where a scale makes it that is infinite or next to it, it is the least number, as in
    onnxruntime.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.QuantizeLinear,
    com.microsoft.DequantizeLinear; onnxruntime/core/providers/cpu/quantization/quantize_linear.cc
"""

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Array,
    Builder,
    InferredType,
    NodeView,
    Refuse,
    Value,
    least_for_nan,
    may_be_nan,
    need_rank,
    need_type,
    rewrite,
)

_QUANTIZE, _DEQUANTIZE = "com.microsoft::QuantizeLinear", "com.microsoft::DequantizeLinear"
_OLD = (TensorProto.INT8, TensorProto.UINT8, TensorProto.INT32)
_RANGES = {int(TensorProto.INT16): (-32768, 32767), int(TensorProto.UINT16): (0, 65535)}
_BYTES = {int(TensorProto.INT8): (-128, 127), int(TensorProto.UINT8): (0, 255)}
_SCALES = (TensorProto.FLOAT, TensorProto.FLOAT16)


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """What is quantized is of the type of the zero point, what is dequantized of the scale."""
    x, bears = node.input(0), node.input(2 if node.op == "QuantizeLinear" else 1)
    kind = int(TensorProto.UINT8) if bears is None else bears.elem_type
    return (InferredType(kind, x.shape) if x is not None and kind else None,)


@rewrite(
    (_QUANTIZE, _DEQUANTIZE),
    emits="Add Cast Clip DequantizeLinear Div Greater Mul QuantizeLinear Round Sub Where",
    infer=infer,
)
def contrib_quantize_to_onnx(node: NodeView, build: Builder) -> Value:
    """Write ONNX's operator or the arithmetic, see the module."""
    x, scale, zero = node.need(0), node.need(1), node.input(2)
    need_type(scale, _SCALES)
    kind = x.elem_type
    if node.op == "QuantizeLinear":
        kind = int(TensorProto.UINT8) if zero is None else zero.elem_type
    several = _is_several(scale)
    oldest = 19 if scale.elem_type == TensorProto.FLOAT16 else 13 if several else 1
    if (kind in _OLD and build.opset >= oldest) or build.opset >= 21:
        axis = int(node.attr("axis", 1)) if several else None
        return build.multi(node.op, x, scale, zero, outputs=1, axis=axis)[0]
    return _written(node, build, kind, several=several)


@rewrite(_DEQUANTIZE, emits="Add Cast Clip Div Greater Mul Round Sub Where", since=11)
def contrib_quantize_dequantize_to_clip(node: NodeView, build: Builder) -> Value:
    """Write a pair of 16 bits as floats, see the module."""
    x, scale = node.need(0), node.need(1)
    maker = x.producer
    if maker is None or not _gives_16_bits(maker, x.elem_type):
        raise Refuse(f"{x.name} must be quantized to 16 bits just before; it is not")
    need_type(scale, _SCALES)
    return _written(node, build, x.elem_type, several=_is_several(scale))


def _written(node: NodeView, build: Builder, kind: int, *, several: bool) -> Value:
    x = node.need(0)
    if node.op == "QuantizeLinear":
        return build.Cast(_limited(node, build, kind, several=several), to=kind)
    factor, zero = _parameters(node, build, several=several)
    maker = x.producer
    if maker is not None and _gives_16_bits(maker, kind) and build.opset >= 11:
        number = _limited(maker, build, kind, several=_is_several(maker.need(1)))
    else:
        number = build.Cast(x, to=TensorProto.FLOAT)
    real = build.Mul(build.Sub(number, zero) if zero.any() else number, factor)
    kind = node.need(1).elem_type
    return real if kind == TensorProto.FLOAT else build.Cast(real, to=kind)


def _gives_16_bits(maker: NodeView, kind: int) -> bool:
    quantizes = maker.op == "QuantizeLinear" and maker.domain == "com.microsoft"
    return quantizes and kind in _RANGES and maker.need(1).elem_type in _SCALES


def _limited(node: NodeView, build: Builder, kind: int, *, several: bool) -> Value:
    """Return what a QuantizeLinear gives, as float32.

    Raises:
        Refuse: The type is none of 16 bits, there is no Round, or something is not known.
    """
    known = _RANGES | _BYTES
    if kind not in known or build.opset < 11:
        raise Refuse("numbers of 8 or 16 bits must be asked for, and Round be there (opset 11)")
    factor, zero = _parameters(node, build, several=several)
    low, high = (np.array(bound, np.float32) for bound in known[kind])
    x = node.need(0)
    number = x if x.elem_type == TensorProto.FLOAT else build.Cast(x, to=TensorProto.FLOAT)
    steps = build.Add(build.Round(build.Div(number, factor)), zero)
    if np.isinf(factor).any() or may_be_nan(node.need(0)):
        steps = least_for_nan(build, steps, low)
    return build.Clip(steps, build.constant(low), build.constant(high))


def _is_several(scale: Value) -> bool:
    return scale.rank != 0 and scale.static_shape != (1,)


def _parameters(node: NodeView, build: Builder, *, several: bool) -> tuple[Array, Array]:
    """Return scale and zero point as they broadcast, as float32."""
    factor = build.need_const(node.need(1), "the scale").astype(np.float32)
    given = node.input(2)
    zero = np.zeros((), np.float32)
    if given is not None:
        zero = build.need_const(given, "the zero point").astype(np.float32)
    if not several:
        return factor.reshape(()), zero.reshape(())
    shape = [1] * need_rank(node.need(0))
    shape[int(node.attr("axis", 1))] = -1
    return factor.reshape(shape), _along(zero, shape)


def _along(zero: Array, shape: Sequence[int]) -> Array:
    return zero.reshape(shape) if zero.size > 1 else zero.reshape(())
