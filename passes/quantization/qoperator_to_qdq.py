"""Compute quantized operators as floats between DequantizeLinear and QuantizeLinear.

What it does: Writes QLinearConv, QLinearMatMul and onnxruntime's QGemm, QLinearAdd, QLinearMul,
    QLinearAveragePool, QLinearGlobalAveragePool, QLinearSoftmax, QLinearLeakyRelu, QLinearSigmoid,
    QLinearConcat and QLinearWhere as the operator of floats that each stands for, with a
    DequantizeLinear for every operand and a QuantizeLinear after it.
Why engines need it: TensorRT, OpenVINO and QNN have few or none of these operators, and fuse this
    form to products in int8. qoperator-to-float keeps the result, and leaves the engine to floats.
Before: r = QLinearConv (q, 0.1, 3, w, 0.2, 0, 0.5, 7)
After:
    sum = Conv (DequantizeLinear (q, 0.1, 3), DequantizeLinear (w, 0.2, 0))
    r = QuantizeLinear (sum, 0.5, 7)
When it refuses: A scale, a zero point or a bias is computed at run time or is not float32; images
    with the channels last; scales of a product differ along another axis than that of its result;
    a softmax of before opset 13; the type of the result is not known.
Accuracy: Lossy: floats are rounded, integers are not. Where a sum lies next to the middle between
    two steps of the result, it may be taken to the other one; the note of each site has the step.
    It runs with --allow-lossy alone, before others.
References: https://onnx.ai/onnx/operators/onnx__QLinearConv.html; NVIDIA, "Working with quantized
    types"; microsoft/onnxruntime docs/ContribOperators.md
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import INTEGERS, LOSSY, Array, Builder, NodeView, Refuse, Value, rewrite

from ._qoperators import OPERATORS

_SOFTMAX_OF_AXIS = 13  # the opset


@rewrite(
    OPERATORS,
    removes=(
        *(f"op:{op}" for op in OPERATORS),
        *(f"dtype:{op}.int8" for op in ("QLinearConv", "QLinearMatMul")),
    ),
    emits=(
        "Add AveragePool Concat Conv DequantizeLinear Gemm GlobalAveragePool LeakyRelu MatMul Mul "
        "QuantizeLinear Sigmoid Softmax Where"
    ),
    accuracy=LOSSY,
    stage=INTEGERS,
    since=10,
)
def qoperator_to_qdq(node: NodeView, build: Builder) -> Value:
    """Dequantize, compute and quantize, see the module."""
    if node.attr("channels_last", 0):
        raise Refuse("channels must come first; they come last")
    return _WRITERS[node.op](node, build)


def _real(node: NodeView, build: Builder, at: int, axis: int | None = None) -> Value:
    """Return an operand as floats: its bytes, scale and zero point are inputs in a row.

    Args:
        node: The quantized operator.
        build: The builder.
        at: The place of the bytes.
        axis: That along which there may be several scales; None for none.
    """
    x = node.need(at)
    scale, zero = _scale(node, build, at + 1), _zero(node, build, at + 2, x.elem_type)
    if scale.size == zero.size == 1:
        return build.DequantizeLinear(x, build.constant(scale[0]), build.constant(zero[0]))
    if axis is None:
        raise Refuse(f"{node.need(at + 1).name} must be one number; it is {scale.size}")
    size = max(scale.size, zero.size)
    scales, zeros = (build.constant(np.broadcast_to(a, size).copy()) for a in (scale, zero))
    return build.DequantizeLinear(x, scales, zeros, axis=axis)


def _scale(node: NodeView, build: Builder, at: int) -> Array:
    scale = build.need_const(node.need(at), "the scale")
    if scale.dtype != np.float32 or not (np.isfinite(scale) & (scale > 0)).all():
        raise Refuse(f"the scale {node.need(at).name} must be positive float32; it is not")
    return _row(node, at, scale)


def _zero(node: NodeView, build: Builder, at: int, kind: int) -> Array:
    given = node.input(at)
    if kind not in (TensorProto.INT8, TensorProto.UINT8):
        raise Refuse(f"{node.op} must be of 8 bits; its type is not known")
    if given is None:
        return np.zeros(1, np.int8 if kind == TensorProto.INT8 else np.uint8)
    return _row(node, at, build.need_const(given, "the zero point"))


def _row(node: NodeView, at: int, known: Array) -> Array:
    if known.size != 1 and known.ndim != 1:
        raise Refuse(f"{node.need(at).name} must differ by one axis at most; it differs by more")
    return known.reshape(-1)


def _quantized(node: NodeView, build: Builder, real: Value, at: int) -> Value:
    """Return floats as bytes by the scale at a place and the zero point after it."""
    scale, given = _scale(node, build, at), node.input(at + 1)
    kind = given.elem_type if given is not None else node.need(0).elem_type
    zero = _zero(node, build, at + 1, kind)
    if scale.size != 1 or zero.size != 1:
        raise Refuse("the result must have one scale and zero point; it has several")
    build.declare(LOSSY, f"results next to the middle between steps of {float(scale[0]):g} differ")
    return build.QuantizeLinear(real, build.constant(scale[0]), build.constant(zero[0]))


def _conv(node: NodeView, build: Builder) -> Value:
    x, w = _real(node, build, 0), _real(node, build, 3, axis=0)
    bias = _bias(node, build, 8, _scale(node, build, 1) * _scale(node, build, 4))
    attributes = {name: node.attr(name) for name in node.attributes if name != "channels_last"}
    return _quantized(node, build, build.Conv(x, w, bias, **attributes), 6)


def _bias(node: NodeView, build: Builder, at: int, scale: Array) -> Array | None:
    given = node.input(at)
    if given is None:
        return None
    known = build.need_const(given, "the bias").astype(np.float64)
    return (known * scale.astype(np.float64)).astype(np.float32)


def _matmul(node: NodeView, build: Builder) -> Value:
    rank = node.need(3).rank
    if rank is None:
        raise Refuse(f"the rank of {node.need(3).name} must be known")
    a, b = _real(node, build, 0), _real(node, build, 3, axis=rank - 1 if rank > 1 else None)
    return _quantized(node, build, build.MatMul(a, b), 6)


def _gemm(node: NodeView, build: Builder) -> Value:
    kept: dict[str, Any] = {name: node.attr(name) for name in node.attributes}
    a = _real(node, build, 0)
    b = _real(node, build, 3, axis=0 if kept.get("transB", 0) else 1)
    scale = _scale(node, build, 1) * _scale(node, build, 4) * np.float32(kept.get("alpha", 1.0))
    real = build.Gemm(a, b, _bias(node, build, 6, scale), **kept)
    if node.input(7) is None:
        build.declare(LOSSY, "sums are rounded as floats are")
        return real
    return _quantized(node, build, real, 7)


def _sum(node: NodeView, build: Builder) -> Value:
    return _quantized(node, build, build.Add(_real(node, build, 0), _real(node, build, 3)), 6)


def _product(node: NodeView, build: Builder) -> Value:
    return _quantized(node, build, build.Mul(_real(node, build, 0), _real(node, build, 3)), 6)


def _unary(op: str) -> Callable[[NodeView, Builder], Value]:
    """Return what writes an operator of one operand, whose result has the scale at place 3."""

    def written(node: NodeView, build: Builder) -> Value:
        kept = {name: node.attr(name) for name in node.attributes if name != "channels_last"}
        late = kept.pop("opset", _SOFTMAX_OF_AXIS) >= _SOFTMAX_OF_AXIS <= build.opset
        if op == "Softmax" and not late:
            raise Refuse("Softmax must be along one axis, as from opset 13 on; it is older")
        made = build.multi(op, _real(node, build, 0), outputs=1, **kept)[0]
        return _quantized(node, build, made, 3)

    return written


def _concat(node: NodeView, build: Builder) -> Value:
    parts = [_real(node, build, at) for at in range(2, len(node.inputs), 3)]
    return _quantized(node, build, build.Concat(*parts, axis=int(node.attr("axis"))), 0)


def _where(node: NodeView, build: Builder) -> Value:
    real = build.Where(node.need(0), _real(node, build, 1), _real(node, build, 4))
    return _quantized(node, build, real, 7)


_WRITERS: dict[str, Callable[[NodeView, Builder], Value]] = {
    "QGemm": _gemm,
    "QLinearAdd": _sum,
    "QLinearAveragePool": _unary("AveragePool"),
    "QLinearConcat": _concat,
    "QLinearConv": _conv,
    "QLinearGlobalAveragePool": _unary("GlobalAveragePool"),
    "QLinearLeakyRelu": _unary("LeakyRelu"),
    "QLinearMatMul": _matmul,
    "QLinearMul": _product,
    "QLinearSigmoid": _unary("Sigmoid"),
    "QLinearSoftmax": _unary("Softmax"),
    "QLinearWhere": _where,
}
