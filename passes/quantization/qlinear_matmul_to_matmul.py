"""Multiply quantized matrices in floats.

What it does:
    Takes the zero points away, multiplies in float32, scales, rounds and saturates, and casts to
    the type of the result.

Why engines need it:
    TensorRT has no QLinearMatMul.

Before:
    y = QLinearMatMul (a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero)

After:
    m = MatMul (Sub (Cast <to = 1> (a), a_zero), Sub (Cast <to = 1> (b), b_zero))
    r = Round (Mul (m, Div (Mul (a_scale, b_scale), y_scale)))
    y = Cast <to = 3> (Min (Max (Add (r, y_zero), -128), 127))

When it refuses:
    Scales or zero points differ by row or column, the elements are not of 8 bits, or the number of
    products in a sum is unknown or such that float32 does not hold every sum.

Accuracy:
    Approximate: a result may differ by 1 where the scaled sum lies between two numbers. The sums
    themselves are exact.

References:
    https://onnx.ai/onnx/operators/onnx__QLinearMatMul.html; operators.md of onnx-tensorrt,
    release 8.6
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import rewrite
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView, Value
from graphfix.report import APPROXIMATE

_INTEGERS = 1 << 24
_LARGEST = 255
_BYTES = (TensorProto.INT8, TensorProto.UINT8)


@rewrite(
    "QLinearMatMul",
    removes="op:QLinearMatMul",
    emits=("Add", "Cast", "Div", "MatMul", "Max", "Min", "Mul", "Reshape", "Round", "Sub"),
    accuracy=APPROXIMATE,
    since=11,
)
def qlinear_matmul_to_matmul(node: NodeView, build: Builder) -> Value:
    """Multiply in float32 and quantize again, see the module."""
    a, b, zero = node.need(0), node.need(3), node.need(7)
    count = a.dim(-1) or b.dim(-2)
    if not count or count * _LARGEST * _LARGEST >= _INTEGERS:
        raise Refuse("the sums are too long for float32, or their length is unknown")
    if any(value.elem_type not in _BYTES for value in (a, b, zero)):
        raise Refuse("the elements are not of 8 bits")
    build.declare(APPROXIMATE, "a result may differ by 1 where the scaled sum lies between two")

    def number(index: int) -> Value:
        """Return a scale or a zero point as one float32."""
        value = node.need(index)
        if value.rank is None or (value.rank and value.static_shape != (1,) * value.rank):
            raise Refuse(f"{value.name} differs by row or column")
        plain = value.elem_type == TensorProto.FLOAT
        wide = value if plain else build.Cast(value, to=TensorProto.FLOAT)
        return build.Reshape(wide, shape=[1]) if value.rank != 1 else wide

    left = build.Sub(build.Cast(a, to=TensorProto.FLOAT), number(2))
    right = build.Sub(build.Cast(b, to=TensorProto.FLOAT), number(5))
    scale = build.Div(build.Mul(number(1), number(4)), number(6))
    scaled = build.Round(build.Mul(build.MatMul(left, right), scale))
    info = np.iinfo(np.int8 if zero.elem_type == TensorProto.INT8 else np.uint8)
    low = build.Max(build.Add(scaled, number(7)), float(info.min))
    return build.Cast(build.Min(low, float(info.max)), to=zero.elem_type)
