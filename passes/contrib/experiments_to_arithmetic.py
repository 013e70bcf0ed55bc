"""Write out operators that ONNX had as experiments: Affine, Crop, Scale, ScaledTanh and their kind.

What it does:
    Affine is alpha x + beta, Scale a factor, ScaledTanh alpha tanh(beta x), ParametricSoftplus
    alpha softplus(beta x), and Crop takes a border off the last two axes: left, top, right and
    bottom; `scale` (height, width) says how much is kept instead.

Why engines need it:
    onnx dropped them in 1.5, and onnxruntime knows them below opset 10 alone. Old exporters of
    Caffe2, CoreML and Keras wrote them.

Before:
    y = Affine <alpha = 2, beta = 1> (x)

After:
    y = Add (Mul (x, 2), 1)

When it refuses:
    The type of the input is not float32 or float16, or its rank is not 4 for Crop; an attribute
    without default is missing.

Accuracy:
    Exact up to rounding.

References:
    onnx/defs/experiments/defs.cc of onnx 1.4; microsoft/onnxruntime
    onnxruntime/core/providers/cpu/tensor/crop.h
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, InferredType, NodeView, Refuse, Value, rewrite
from graphfix.passes.contrib._typing import like_first

Array = np.ndarray[Any, Any]
Attributes = dict[str, Any]
_RANK = 4


def _number(node: NodeView, name: str, default: float | None = None) -> Value | float:
    value = node.attr(name, default)
    if value is None:
        raise Refuse(f"{name} must be given")
    x = node.need(0)
    if x.elem_type not in (TensorProto.FLOAT, TensorProto.FLOAT16):
        raise Refuse(f"{x.name} must be float32 or float16; it is {x.type_name or 'unknown'}")
    return float(value)


def affine(inputs: list[Array | None], attributes: Attributes) -> tuple[Array, ...]:
    """Compute alpha x + beta."""
    x = _given(inputs)
    alpha, beta = attributes.get("alpha", 1.0), attributes.get("beta", 0.0)
    return (np.asarray(x * x.dtype.type(alpha) + x.dtype.type(beta)),)


@rewrite("Affine", removes="op:Affine", emits="Mul Add", infer=like_first, evaluate=affine)
def affine_to_mul(node: NodeView, build: Builder) -> Value:
    """Replace Affine by a product and a sum."""
    scaled = build.Mul(node.need(0), _number(node, "alpha", 1.0))
    return build.Add(scaled, _number(node, "beta", 0.0))


def scale(inputs: list[Array | None], attributes: Attributes) -> tuple[Array, ...]:
    """Compute a multiple of x."""
    x = _given(inputs)
    return (np.asarray(x * x.dtype.type(attributes.get("scale", 1.0))),)


@rewrite("Scale", removes="op:Scale", emits="Mul", infer=like_first, evaluate=scale)
def scale_to_mul(node: NodeView, build: Builder) -> Value:
    """Replace Scale by a product."""
    return build.Mul(node.need(0), _number(node, "scale", 1.0))


def scaled_tanh(inputs: list[Array | None], attributes: Attributes) -> tuple[Array, ...]:
    """Compute alpha tanh(beta x)."""
    x = _given(inputs)
    alpha, beta = (x.dtype.type(attributes[name]) for name in ("alpha", "beta"))
    return (np.asarray(alpha * np.tanh(beta * x)),)


@rewrite(
    "ScaledTanh",
    removes="op:ScaledTanh",
    emits="Mul Tanh",
    infer=like_first,
    evaluate=scaled_tanh,
)
def scaled_tanh_to_tanh(node: NodeView, build: Builder) -> Value:
    """Replace ScaledTanh by Tanh and two products."""
    inner = build.Tanh(build.Mul(node.need(0), _number(node, "beta")))
    return build.Mul(inner, _number(node, "alpha"))


def parametric_softplus(inputs: list[Array | None], attributes: Attributes) -> tuple[Array, ...]:
    """Compute alpha softplus(beta x)."""
    x = _given(inputs)
    alpha, beta = (x.dtype.type(attributes[name]) for name in ("alpha", "beta"))
    return (np.asarray(alpha * np.logaddexp(beta * x, x.dtype.type(0))),)


@rewrite(
    "ParametricSoftplus",
    removes="op:ParametricSoftplus",
    emits="Mul Softplus",
    infer=like_first,
    evaluate=parametric_softplus,
)
def parametric_softplus_to_softplus(node: NodeView, build: Builder) -> Value:
    """Replace ParametricSoftplus by Softplus and two products."""
    inner = build.Softplus(build.Mul(node.need(0), _number(node, "beta")))
    return build.Mul(inner, _number(node, "alpha"))


def crop(inputs: list[Array | None], attributes: Attributes) -> tuple[Array, ...]:
    """Take the border off the last two axes."""
    x = _given(inputs)
    left, top, right, bottom = attributes["border"]
    height, width = x.shape[2] - top - bottom, x.shape[3] - left - right
    if "scale" in attributes:
        height, width = attributes["scale"]
    return (x[:, :, top : top + height, left : left + width],)


def _cropped(node: NodeView) -> Sequence[InferredType | None]:
    x = node.input(0)
    if x is None or not x.elem_type:
        return (None,)
    return (InferredType(x.elem_type, None),)


@rewrite("Crop", removes="op:Crop", emits="Slice", infer=_cropped, evaluate=crop)
def crop_to_slice(node: NodeView, build: Builder) -> Value:
    """Replace Crop by Slice of the last two axes."""
    x, border, size = node.need(0), node.attr("border"), node.attr("scale")
    if x.rank != _RANK:
        raise Refuse(f"the rank of {x.name} must be 4; it is {x.rank or 'unknown'}")
    if border is None or len(border) != _RANK or min(border) < 0:
        raise Refuse("border must be given: four numbers, none below 0")
    left, top, right, bottom = border
    ends = [-bottom or _END, -right or _END]
    if size is not None:
        if len(size) != len(ends) or min(size) < 0:
            raise Refuse("scale must be two numbers, none below 0")
        ends = [top + size[0], left + size[1]]
    return build.Slice(x, starts=[top, left], ends=ends, axes=[2, 3])


_END = np.iinfo(np.int32).max


def _given(inputs: list[Array | None]) -> Array:
    (x,) = inputs
    assert x is not None
    return x
