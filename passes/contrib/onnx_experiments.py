"""Replace what ONNX had as experiments, an operator of one input with factors, by its formula.

Why engines need it: onnx dropped it in 1.5, and onnxruntime knows it below opset 10 alone. Old
    exporters of Caffe2, CoreML and Keras wrote it.
When it refuses: The type of the input is not float32 or float16.
Accuracy: Exact up to rounding.
References: onnx/defs/experiments/defs.cc of onnx 1.4
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    FAR,
    Array,
    Builder,
    NodeView,
    Refuse,
    Value,
    need_rank_of,
    needed,
    rewrite,
)

Attributes = dict[str, Any]

_RANK = 4


def _factor(node: NodeView, name: str, default: float | None = None) -> float:
    """Return a number that the input, float32 or float16, is multiplied by or added to.

    Args:
        node: The node.
        name: The attribute.
        default: What it is where it is not given; None where it has to be.

    Raises:
        Refuse: It is missing, or the type of the input is another or unknown.
    """
    value = needed(node.attr(name, default), f"{name} must be given")
    x = node.need(0)
    if x.elem_type not in (TensorProto.FLOAT, TensorProto.FLOAT16):
        raise Refuse(f"{x.name} must be float32 or float16; it is {x.type_name or 'unknown'}")
    return float(value)


def _given(
    inputs: list[Array | None], attributes: dict[str, Any], *factors: str
) -> tuple[Any, ...]:
    """Return the one input, which is never left out, and factors in its type."""
    (x,) = inputs
    assert x is not None
    return x, *(x.dtype.type(attributes[name]) for name in factors)


def affine(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Compute alpha x + beta."""
    x, alpha, beta = _given(inputs, {"alpha": 1.0, "beta": 0.0, **attributes}, "alpha", "beta")
    return (np.asarray(x * alpha + beta),)


@rewrite("Affine", removes="op:Affine", emits="Mul Add", evaluate=affine)
def affine_to_mul(node: NodeView, build: Builder) -> Value:
    """Replace Affine by a product and a sum.

    What it does: Affine is alpha x + beta; alpha is 1 and beta 0 where they are not given.
    Before: y = Affine <alpha = 2, beta = 1> (x)
    After: y = Add (Mul (x, 2), 1)
    """
    scaled = build.Mul(node.need(0), _factor(node, "alpha", 1.0))
    return build.Add(scaled, _factor(node, "beta", 0.0))


def scale(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Compute a multiple of x."""
    x, factor = _given(inputs, {"scale": 1.0, **attributes}, "scale")
    return (np.asarray(x * factor),)


@rewrite("Scale", removes="op:Scale", emits="Mul", evaluate=scale)
def scale_to_mul(node: NodeView, build: Builder) -> Value:
    """Replace Scale by a product.

    What it does: Scale multiplies by a number, which is 1 where it is not given.
    Before: y = Scale <scale = 2> (x)
    After: y = Mul (x, 2)
    """
    return build.Mul(node.need(0), _factor(node, "scale", 1.0))


def parametric_softplus(
    inputs: list[Array | None], attributes: dict[str, Any]
) -> tuple[Array, ...]:
    """Compute a multiple of Softplus of beta x."""
    x, alpha, beta = _given(inputs, attributes, "alpha", "beta")
    return (np.asarray(alpha * np.logaddexp(beta * x, x.dtype.type(0))),)


@rewrite(
    "ParametricSoftplus",
    removes="op:ParametricSoftplus",
    emits="Mul Softplus",
    evaluate=parametric_softplus,
)
def parametric_softplus_to_softplus(node: NodeView, build: Builder) -> Value:
    """Replace ParametricSoftplus by Softplus and two products.

    What it does: ParametricSoftplus is alpha softplus(beta x).
    Before: y = ParametricSoftplus <alpha = 2, beta = 0.5> (x)
    After: y = Mul (Softplus (Mul (x, 0.5)), 2)
    When it refuses: The type of the input is not float32 or float16; alpha or beta, which have no
        default, is missing.
    """
    inner = build.Softplus(build.Mul(node.need(0), _factor(node, "beta")))
    return build.Mul(inner, _factor(node, "alpha"))


def scaled_tanh(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Compute a multiple of Tanh of beta x."""
    x, alpha, beta = _given(inputs, attributes, "alpha", "beta")
    return (np.asarray(alpha * np.tanh(beta * x)),)


@rewrite("ScaledTanh", removes="op:ScaledTanh", emits="Mul Tanh", evaluate=scaled_tanh)
def scaled_tanh_to_tanh(node: NodeView, build: Builder) -> Value:
    """Replace ScaledTanh by Tanh and two products.

    What it does: ScaledTanh is alpha tanh(beta x).
    Before: y = ScaledTanh <alpha = 2, beta = 0.5> (x)
    After: y = Mul (Tanh (Mul (x, 0.5)), 2)
    When it refuses: The type of the input is not float32 or float16; alpha or beta, which have no
        default, is missing.
    """
    inner = build.Tanh(build.Mul(node.need(0), _factor(node, "beta")))
    return build.Mul(inner, _factor(node, "alpha"))


def crop(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Take the border off the last two axes."""
    (x,) = _given(inputs, attributes)
    left, top, right, bottom = attributes["border"]
    height, width = x.shape[2] - top - bottom, x.shape[3] - left - right
    if "scale" in attributes:
        height, width = attributes["scale"]
    return (x[:, :, top : top + height, left : left + width],)


@rewrite("Crop", removes="op:Crop", emits="Slice", evaluate=crop)
def crop_to_slice(node: NodeView, build: Builder) -> Value:
    """Replace Crop by Slice of the last two axes.

    What it does: Crop takes a border off the last two axes: left, top, right and bottom; `scale`
        (height, width) says how much is kept instead.
    Before: y = Crop <border = [1, 0, 2, 3]> (x)
    After: y = Slice <starts = [0, 1], ends = [-3, -2], axes = [2, 3]> (x)
    When it refuses: The rank of the input is not 4; border is not four numbers, or scale not two,
        of which none is below 0.
    Accuracy: Exact.
    References: onnx/defs/experiments/defs.cc of onnx 1.4; microsoft/onnxruntime
        onnxruntime/core/providers/cpu/tensor/crop.h
    """
    x, border, size = node.need(0), node.attr("border"), node.attr("scale")
    need_rank_of(x, _RANK)
    if border is None or len(border) != _RANK or min(border) < 0:
        raise Refuse("border must be given: four numbers, none below 0")
    left, top, right, bottom = border
    ends = [-bottom or FAR, -right or FAR]
    if size is not None:
        if len(size) != len(ends) or min(size) < 0:
            raise Refuse("scale must be two numbers, none below 0")
        ends = [top + size[0], left + size[1]]
    return build.Slice(x, starts=[top, left], ends=ends, axes=[2, 3])
