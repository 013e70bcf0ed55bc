"""Compute quantized operators in floating point numbers.

What it does:
    From a DequantizeLinear it goes back through the quantized operators to where QuantizeLinear
    begins, and writes them on floating point numbers that hold the same integers: QLinearConv,
    QLinearMatMul, onnxruntime's QLinearAdd, QLinearAveragePool, QLinearGlobalAveragePool and
    QLinearSoftmax, MaxPool, and what only moves elements.

Why engines need it:
    TensorRT has no importer for QLinear operators, and no zero points other than 0.

Before:
    q = QuantizeLinear (x, 0.1, 3)
    r = QLinearConv (q, 0.1, 3, w, 0.2, 0, 0.5, 7)
    y = DequantizeLinear (r, 0.5, 7)

After:
    q = Clip (Add (Round (Div (x, 0.1)), 3), -128, 127)
    sum = Conv (Sub (q, 3), w)                           # whole numbers
    r = Clip (Add (Round (Mul (sum, 0.04)), 7), -128, 127)
    y = Mul (Sub (r, 7), 0.5)

When it refuses:
    What is dequantized does not come from such operators; a scale, a zero point or the weights of
    a product are computed at run time; or a sum of products may exceed 2**24, up to which float32
    holds every integer.

Accuracy:
    Exact for QLinearConv, QLinearMatMul, MaxPool and moves: every sum is a whole number that
    float32 holds, and it is scaled and rounded as onnxruntime does. A NaN that is quantized stays
    NaN, where QuantizeLinear makes a number of it. Approximate for the others: where a quotient is
    next to a half, a result may be one step of quantization away.

References:
    https://onnx.ai/onnx/operators/onnx__QLinearConv.html, onnx__QLinearMatMul.html;
    microsoft/onnxruntime docs/ContribOperators.md, onnxruntime/core/mlas/lib/quantize.cpp
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import InferredType, rewrite
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import Array, NodeView, Value
from graphfix.passes.quantization._reading import RANGES, scale_of, zero_of
from graphfix.report import APPROXIMATE, EXACT

_CONTRIB = (
    "QLinearAdd",
    "QLinearAveragePool",
    "QLinearGlobalAveragePool",
    "QLinearSoftmax",
)
# The place of the zero point of the result, which bears its type.
_RESULT_ZERO = {
    "QLinearAdd": 7,
    "QLinearAveragePool": 4,
    "QLinearConv": 7,
    "QLinearGlobalAveragePool": 4,
    "QLinearMatMul": 7,
    "QLinearSoftmax": 4,
}
_MOVES = ("Flatten", "Identity", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze")
_EXACT_INTEGERS = 1 << 24
_STEP = "a result may be one step of quantization away where its quotient is next to a half"


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """The type of the zero point of the result; the shape of the input where it stays."""
    zero, x = node.input(_RESULT_ZERO.get(node.op, 0)), node.input(0)
    if node.domain != "com.microsoft" or zero is None or x is None:
        return (None,)
    if node.op == "QLinearSoftmax":
        return (InferredType(zero.elem_type, x.shape),)
    if node.op == "QLinearGlobalAveragePool" and x.shape is not None:
        return (InferredType(zero.elem_type, (*x.shape[:2], *[1] * (len(x.shape) - 2))),)
    if node.op == "QLinearAdd":
        return (InferredType(zero.elem_type, _broadcast(x, node.input(3))),)
    rank = x.rank
    return (InferredType(zero.elem_type, None if rank is None else (None,) * rank),)


def _broadcast(a: Value, b: Value | None) -> tuple[int | str | None, ...] | None:
    if a.shape is None or b is None or b.shape is None:
        return None
    rank = max(len(a.shape), len(b.shape))
    left, right = ((1,) * (rank - len(s)) + s for s in (a.shape, b.shape))
    return tuple(
        q if p == 1 else p if q == 1 or p == q else None for p, q in zip(left, right, strict=True)
    )


@rewrite(
    ("DequantizeLinear", *(f"com.microsoft::{op}" for op in _CONTRIB)),
    removes=(
        "attr:DequantizeLinear.*",
        "dtype:DequantizeLinear.*",
        "op:DequantizeLinear",
        *(f"op:com.microsoft::{op}" for op in _CONTRIB),
    ),
    emits=(
        "Add",
        "AveragePool",
        "Clip",
        "Conv",
        "Div",
        "GlobalAveragePool",
        "MatMul",
        "MaxPool",
        "Mul",
        "Round",
        "Softmax",
        "Sub",
        *_MOVES,
    ),
    accuracy=EXACT,
    since=11,
    infer=infer,
)
def qoperator_to_float(node: NodeView, build: Builder) -> Value:
    """Write the region behind a DequantizeLinear, see the module."""
    if node.domain:
        raise Refuse("its result stays quantized; it goes with the DequantizeLinear behind it")
    x = node.need(0)
    maker = x.producer
    if maker is None or maker.op == "QuantizeLinear":
        raise Refuse(f"{x.name} does not come from a quantized operator")
    region = _Region(build)
    whole = region.whole(x)
    if region.rounded:
        build.declare(APPROXIMATE, _STEP)
    away = build.Sub(whole, zero_of(node, build, x.rank).astype(np.float32))
    return build.Mul(away, scale_of(node, build, x.rank))


class _Region:
    """The quantized operators that are written on floating point numbers, each once."""

    def __init__(self, build: Builder) -> None:
        """Begin with none."""
        self.build = build
        self.rounded = False
        self._known: dict[int, Value] = {}

    def whole(self, value: Value) -> Value:
        """Return the integers of a quantized tensor as float32."""
        key = id(value.tensor)
        if key not in self._known:
            self._known[key] = self._write(value)
        return self._known[key]

    def _write(self, value: Value) -> Value:
        known = self.build.const(value)
        if known is not None:
            return self.build.constant(known.astype(np.float32))
        maker = value.producer
        if maker is None:
            raise Refuse(f"{value.name} comes in quantized")
        if maker.op == "QuantizeLinear" and not maker.domain:
            return self._quantized(maker)
        pooled = maker.op == "MaxPool" and maker.output(1) is None
        if (maker.op in _MOVES or pooled) and not maker.domain:
            return self._moved(maker)
        written = {
            "QLinearConv": self._conv,
            "QLinearMatMul": self._matmul,
            "QLinearAdd": self._add,
            "QLinearAveragePool": self._pool,
            "QLinearGlobalAveragePool": self._pool,
            "QLinearSoftmax": self._softmax,
        }.get(maker.op)
        if written is None:
            raise Refuse(f"{maker.op} of quantized numbers is not written here")
        return written(maker)

    def _moved(self, node: NodeView) -> Value:
        attributes = {name: node.attr(name) for name in node.attributes}
        operands = (self.whole(node.need(0)), *node.inputs[1:])
        return self.build.multi(node.op, *operands, outputs=1, **attributes)[0]

    def _quantized(self, node: NodeView) -> Value:
        build, rank = self.build, node.need(0).rank
        if node.need(0).type_name != "float32":
            raise Refuse(f"{node.need(0).type_name} is quantized")
        steps = build.Round(build.Div(node.need(0), scale_of(node, build, rank)))
        return self._limited(node, 2, steps, zero_of(node, build, rank))

    def _limited(self, node: NodeView, place: int, steps: Value, zero: Array) -> Value:
        kind = node.need(place).elem_type
        if kind not in RANGES:
            raise Refuse(f"{node.op} gives {node.need(place).type_name}")
        low, high = RANGES[kind]
        moved = self.build.Add(steps, zero.astype(np.float32))
        return self.build.Clip(moved, min=np.float32(low), max=np.float32(high))

    def _scale(self, node: NodeView, place: int) -> np.float32:
        scale = self.build.need_const(node.need(place), f"a scale of {node.op}")
        if scale.size != 1 or scale.dtype != np.float32:
            raise Refuse(f"a scale of {node.op} is not one float32")
        return np.float32(scale.reshape(-1)[0])

    def _zero(self, node: NodeView, place: int) -> Array:
        value = node.input(place)
        if value is None:
            return np.zeros((), np.int64)
        zero = self.build.need_const(value, f"a zero point of {node.op}").astype(np.int64)
        if zero.size > 1 and (zero != zero.reshape(-1)[0]).any():
            raise Refuse(f"{node.op} has several zero points")
        return zero.reshape(-1)[:1].reshape(())

    def _away(self, node: NodeView, place: int) -> Value:
        """Return an operand less its zero point; its scale and that follow it."""
        whole = self.whole(node.need(place))
        zero = self._zero(node, place + 2)
        return self.build.Sub(whole, np.float32(zero)) if zero else whole

    def _result(self, node: NodeView, steps: Value) -> Value:
        place = _RESULT_ZERO[node.op]
        return self._limited(node, place, self.build.Round(steps), self._zero(node, place))

    def _weights(self, node: NodeView, axes: tuple[int, ...], extra: Array | int) -> Array:
        """Return constant weights less their zero point, whose sums float32 holds."""
        weights = self.build.need_const(node.need(3), "the weights").astype(np.int64)
        weights = weights - self._zero(node, 5)
        largest = np.abs(weights).sum(axis=axes) * 255 + np.abs(extra)
        if largest.size and int(largest.max()) >= _EXACT_INTEGERS:
            raise Refuse("a sum of products may exceed 2**24")
        return weights.astype(np.float32)

    def _factor(self, node: NodeView) -> Array:
        scales = self.build.need_const(node.need(4), "the scale of the weights")
        return (self._scale(node, 1) * scales.astype(np.float32)) / self._scale(node, 6)

    def _conv(self, node: NodeView) -> Value:
        build = self.build
        bias: Array | int = 0
        if node.input(8) is not None:
            bias = build.need_const(node.input(8), "the bias").astype(np.int64)
        rank = node.need(3).rank or 0
        weights = self._weights(node, tuple(range(1, rank)), bias)
        attributes: dict[str, Any] = {name: node.attr(name) for name in node.attributes}
        given = None if isinstance(bias, int) else bias.astype(np.float32)
        total = build.Conv(self._away(node, 0), weights, given, **attributes)
        factor = self._factor(node)
        if factor.size > 1:
            factor = factor.reshape(-1, *[1] * (rank - 2))
        return self._result(node, build.Mul(total, factor))

    def _matmul(self, node: NodeView) -> Value:
        weights = self._weights(node, (-2,), 0)
        total = self.build.MatMul(self._away(node, 0), weights)
        return self._result(node, self.build.Mul(total, self._factor(node)))

    def _add(self, node: NodeView) -> Value:
        self.rounded = True
        build = self.build
        a = build.Mul(self._away(node, 0), self._scale(node, 1) / self._scale(node, 6))
        b = build.Mul(self._away(node, 3), self._scale(node, 4) / self._scale(node, 6))
        return self._result(node, build.Add(a, b))

    def _pool(self, node: NodeView) -> Value:
        if node.attr("channels_last", 0):
            raise Refuse(f"the channels of {node.op} come last")
        self.rounded = True
        kept = {name: node.attr(name) for name in node.attributes if name != "channels_last"}
        op = node.op.removeprefix("QLinear")
        # Pads stand for the number 0: the zero point is taken off before they are put on.
        mean = self.build.multi(op, self._away(node, 0), outputs=1, **kept)[0]
        factor = self._scale(node, 1) / self._scale(node, 3)
        return self._result(node, self.build.Mul(mean, factor))

    def _softmax(self, node: NodeView) -> Value:
        rank = node.need(0).rank
        axis = int(node.attr("axis", -1))
        if axis != -1 and (rank is None or axis != rank - 1):
            raise Refuse("Softmax is not along the last axis")
        if rank is None:
            raise Refuse(f"the rank of {node.need(0).name} is unknown")
        self.rounded = True
        real = self.build.Mul(self._away(node, 0), self._scale(node, 1))
        shares = self.build.Softmax(real, axis=rank - 1)
        return self._result(node, self.build.Div(shares, self._scale(node, 3)))
