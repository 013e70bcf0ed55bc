"""Replace layer normalisation by means and arithmetic.

What it does: Handles layer_norm and native_layer_norm: the trailing axes are centred, divided by
    their deviation, multiplied by the weight and added to the bias. Mean and reciprocal deviation
    of native_layer_norm are given where they are used.
Why engines need it: ONNX had no layer normalisation before opset 17, and exporters wrote an ATen
    node.
Before: y = ATen <operator = "layer_norm", normalized_shape = [8], eps = 1e-5> (x, weight, bias)
After:
    away = Sub (x, ReduceMean <axes = [2]> (x))
    deviation = Sqrt (Add (ReduceMean <axes = [2]> (Mul (away, away)), 1e-5))
    y = Add (Mul (Div (away, deviation), weight), bias)
When it refuses: The normalised shape or epsilon is computed at run time, rank or dtype are unknown,
    the type is not floating point, or the normalised shape does not fit the input.
Accuracy: Exact up to the order of summation; float16 and bfloat16 are computed in float32, as
    PyTorch does. The variance is the mean of squared distances from the mean, which does not
    cancel.
References: pytorch/pytorch aten/src/ATen/native/layer_norm.cpp;
    https://onnx.ai/onnx/operators/onnx__LayerNormalization.html
"""

from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Value
from graphfix.authoring.means import like, wide

from ._arguments import ArrayCall, call_of, replacing
from ._normalizing import centred, floating, normalised_axes, scaled

NAMES = ("layer_norm", "native_layer_norm")
_SCHEMA = ("input", "normalized_shape", "weight", "bias", "eps", "cudnn_enable")
SCHEMAS = {"layer_norm": _SCHEMA, "native_layer_norm": _SCHEMA[:5]}
DEFAULT_EPS = 1e-5


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Normalise in float64."""
    call = ArrayCall(inputs, attributes, _SCHEMA)
    x = call.need("input")
    count = len(call.entries("normalized_shape") or ())
    axes = tuple(range(x.ndim - count, x.ndim))
    work = x.astype(np.float64)
    middle = work.mean(axis=axes, keepdims=True)
    rate = 1 / np.sqrt(work.var(axis=axes, keepdims=True) + call.number("eps", DEFAULT_EPS))
    result = (work - middle) * rate
    weight, bias = call.array("weight"), call.array("bias")
    if weight is not None:
        result = result * weight
    if bias is not None:
        result = result + bias
    return result.astype(x.dtype), middle.astype(x.dtype), rate.astype(x.dtype)


@replacing(
    NAMES,
    emits="Add Cast Div Mul ReduceMean ReduceSum Reciprocal Sqrt Sub",
    evaluate=evaluate,
)
def aten_layer_norm(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Normalise over trailing axes, see the module."""
    call = call_of(node, SCHEMAS)
    x = call.need("input")
    axes = normalised_axes(call, floating(x), x)
    eps = float(call.number("eps", DEFAULT_EPS))
    factors = [
        value and wide(build, value) for value in (call.tensor("weight"), call.tensor("bias"))
    ]
    normal, middle, rate = centred(build, wide(build, x), axes, eps)
    results: list[Value | None] = []
    for position, value in enumerate((scaled(build, normal, *factors), middle, rate)):
        old = node.output(position)
        used = old is not None and (position == 0 or old.is_used)
        results.append(like(build, x, value) if used else None)
    return tuple(results[: len(node.outputs)])
