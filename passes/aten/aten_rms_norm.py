"""Replace root mean square normalisation by a mean and arithmetic.

What it does: Divides the trailing axes by the root of the mean of their squares and multiplies by
    the weight.
Why engines need it: ONNX had no such operator before opset 23, and PyTorch writes an ATen node
    (rms_norm).
Before: y = org.pytorch.aten.ATen <operator = "rms_norm"> (x, [6], weight)     # no epsilon given
After:
    size = Sqrt (Add (ReduceMean <axes = [1]> (Mul (x, x)), 1.1920929e-07))
    y = Mul (Div (x, size), weight)
When it refuses: The normalised shape or epsilon is computed at run time, rank or dtype are unknown,
    the type is not floating point, or the normalised shape does not fit the input.
Accuracy: Exact up to the order of summation. Without an epsilon PyTorch takes that of the type it
    computes in: float32 for float16 and bfloat16, which are computed in float32 here as well.
References: pytorch/pytorch aten/src/ATen/native/layer_norm.cpp (rms_norm_composite);
    https://onnx.ai/onnx/operators/onnx__RMSNormalization.html
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Value
from graphfix.authoring.means import like, wide

from ._arguments import ArrayCall, call_of, replacing
from ._normalizing import floating, mean, normalised_axes, scaled

NAMES = ("rms_norm",)
SCHEMA = ("input", "normalized_shape", "weight", "eps")


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Normalise in float64 with the epsilon of the type that PyTorch computes in."""
    call = ArrayCall(inputs, attributes, SCHEMA)
    x = call.need("input")
    count = len(call.entries("normalized_shape") or ())
    work = x.astype(np.float64)
    axes = tuple(range(x.ndim - count, x.ndim))
    eps = call.number("eps", default_eps(x.dtype == np.float64))
    result = work / np.sqrt((work * work).mean(axis=axes, keepdims=True) + eps)
    weight = call.array("weight")
    return ((result if weight is None else result * weight).astype(x.dtype),)


def default_eps(double: bool) -> float:
    """Return the epsilon that PyTorch takes where none is given."""
    return float(np.finfo(np.float64 if double else np.float32).eps)


@replacing(NAMES, emits="Add Cast Div Mul ReduceMean ReduceSum Sqrt", evaluate=evaluate)
def aten_rms_norm(node: NodeView, build: Builder) -> Value:
    """Divide by the root mean square, see the module."""
    call = call_of(node, {"rms_norm": SCHEMA})
    x = call.need("input")
    rank = floating(x)
    axes = normalised_axes(call, rank, x)
    eps = float(call.number("eps", default_eps(x.elem_type == TensorProto.DOUBLE)))
    work = wide(build, x)
    size = build.Sqrt(build.Add(mean(build, build.Mul(work, work), axes), eps))
    weight = call.tensor("weight")
    result = scaled(build, build.Div(work, size), weight and wide(build, weight), None)
    return like(build, x, result)
