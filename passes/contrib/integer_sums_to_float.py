"""Take MulInteger, ReduceSumInteger and QLinearReduceMean apart.

What it does: MulInteger: both less their zero points, multiplied as float32, which holds the
    products. ReduceSumInteger: the sum of 32 bit numbers. QLinearReduceMean: the mean of what the
    numbers stand for, quantized again.
Why engines need it: They are operators of onnxruntime for graphics processors (DirectML); other
    engines do not know them, and onnxruntime itself does not have them on a CPU.
Before: y = com.microsoft.MulInteger (a, a_zero, b, b_zero)
After: y = Cast <to = 6> (Mul (Sub (Cast (a), Cast (a_zero)), Sub (Cast (b), Cast (b_zero))))
When it refuses: The element type is not of 8 bits, or Round is not there (opset 11).
Accuracy: Exact for MulInteger and ReduceSumInteger. QLinearReduceMean up to the order of summation:
    where a quotient is next to a half, a result may be one step away.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.MulInteger,
    com.microsoft.ReduceSumInteger, com.microsoft.QLinearReduceMean
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    APPROXIMATE,
    Array,
    Builder,
    NodeView,
    Refuse,
    Value,
    need_type,
    rewrite,
)

_PRODUCT, _SUM = "com.microsoft::MulInteger", "com.microsoft::ReduceSumInteger"
_MEAN = "com.microsoft::QLinearReduceMean"
_INT32 = int(TensorProto.INT32)
_BYTES = {int(TensorProto.INT8): (-128, 127), int(TensorProto.UINT8): (0, 255)}


def multiply(inputs: list[Array | None], _: dict[str, Any]) -> tuple[Array, ...]:
    """Multiply in int32."""
    a, b = (
        np.asarray(inputs[at], np.int32)
        - (0 if inputs[at + 1] is None else np.int32(np.asarray(inputs[at + 1]).reshape(())))
        for at in (0, 2)
    )
    return (a * b,)


def _axes(x: Array, attributes: dict[str, Any]) -> dict[str, Any]:
    axes = tuple(int(axis) for axis in attributes.get("axes", ())) or tuple(range(x.ndim))
    return {"axis": axes, "keepdims": bool(attributes.get("keepdims", 1))}


def add_up(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Add up in 32 bits."""
    x = inputs[0]
    assert x is not None  # the schema wants it
    kind = np.uint32 if x.dtype == np.uint8 else np.int32
    return (x.astype(np.int64).sum(**_axes(x, attributes)).astype(kind),)


def average(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Average in float64 and quantize."""
    x, scale, zero, other, bound = (np.asarray(i) for i in inputs[:5])
    real = (x.astype(np.float64) - zero) * scale
    steps = np.rint(real.mean(**_axes(x, attributes)) / other) + bound.astype(np.float64)
    limits = np.iinfo(x.dtype)
    return (np.clip(steps, limits.min, limits.max).astype(x.dtype),)


@rewrite(_PRODUCT, emits="Cast Mul Sub", evaluate=multiply)
def mul_integer_to_mul(node: NodeView, build: Builder) -> Value:
    """Take MulInteger apart: a product of integers, which float32 holds."""
    parts: list[Value] = []
    for place in (0, 2):
        x, zero = node.need(place), node.input(place + 1)
        need_type(x, tuple(_BYTES))
        number = build.Cast(x, to=TensorProto.FLOAT)
        if zero is not None:
            number = build.Sub(number, build.Cast(zero, to=TensorProto.FLOAT))
        parts.append(number)
    return build.Cast(build.Mul(*parts), to=_INT32)


@rewrite(_SUM, emits="Cast ReduceSum", evaluate=add_up)
def reduce_sum_integer_to_sum(node: NodeView, build: Builder) -> Value:
    """Take ReduceSumInteger apart: a sum of int32, see the module."""
    x = node.need(0)
    need_type(x, tuple(_BYTES))
    total = build.ReduceSum(build.Cast(x, to=_INT32), **_named(node))
    return total if x.elem_type == TensorProto.INT8 else build.Cast(total, to=TensorProto.UINT32)


@rewrite(_MEAN, emits="Add Cast Clip Div Mul ReduceMean Round Sub", evaluate=average)
def q_linear_reduce_mean_to_float(node: NodeView, build: Builder) -> Value:
    """Take QLinearReduceMean apart: a mean, quantized."""
    x = node.need(0)
    need_type(x, tuple(_BYTES))
    if build.opset < 11:
        raise Refuse("Round must be there, which came with opset 11")
    build.declare(APPROXIMATE, "a result may be one step away where its quotient is next to a half")
    zeros = [
        None if node.input(at) is None else build.Cast(node.need(at), to=TensorProto.FLOAT)
        for at in (2, 4)
    ]
    number = build.Cast(x, to=TensorProto.FLOAT)
    number = number if zeros[0] is None else build.Sub(number, zeros[0])
    mean = build.ReduceMean(build.Mul(number, node.need(1)), **_named(node))
    steps = build.Round(build.Div(mean, node.need(3)))
    steps = steps if zeros[1] is None else build.Add(steps, zeros[1])
    low, high = _BYTES[x.elem_type]
    limited = build.Clip(steps, min=np.float32(low), max=np.float32(high))
    return build.Cast(limited, to=x.elem_type)


def _named(node: NodeView) -> dict[str, Any]:
    axes = [int(axis) for axis in node.attr("axes", ())] or None
    return {"axes": axes, "keepdims": int(node.attr("keepdims", 1))}
