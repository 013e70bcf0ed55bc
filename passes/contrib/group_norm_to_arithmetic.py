"""Take GroupNorm and SkipGroupNorm apart.

What it does: Adds skip and bias first (SkipGroupNorm), takes the channels apart by groups, centres
    each group and divides it by its deviation, multiplies by gamma and adds beta, and writes SiLU
    where the activation is on. Channels are last unless channels_last is 0.
Why engines need it: They are operators of onnxruntime's optimiser for diffusion models on graphics
    processors; other engines do not know them, and onnxruntime itself does not have them on a CPU.
Before:
    y = com.microsoft.GroupNorm <groups = 32, activation = 1, channels_last = 1> (x, gamma, beta)
After:
    g = Reshape (x, [0, -1, 32, C / 32])
    away = Sub (g, ReduceMean <axes = [1, 3]> (g))
    n = Div (away, Sqrt (Add (ReduceMean <axes = [1, 3]> (Mul (away, away)), 1e-5)))
    r = Add (Mul (Reshape (n, [0, H, W, C]), gamma), beta)
    y = Mul (r, Sigmoid (r))
When it refuses: The dtype, the rank or the number of channels is unknown, the groups do not divide
    the channels, or a skip has another form than that of the input, [N, 1, 1, C] or [N, C].
Accuracy: Exact up to the order of summation; float16 and bfloat16 are computed in float32.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.GroupNorm,
    com.microsoft.SkipGroupNorm; onnxruntime/contrib_ops/cuda/diffusion/group_norm.cc
"""

from typing import Any

import numpy as np

from graphfix.authoring import (
    Array,
    Builder,
    NodeView,
    Refuse,
    Value,
    need_rank,
    rewrite,
)

from ._gelu import silu, silu_of
from ._means import EMITS, like, normalized, wide
from ._typing import need_float

_GROUP, _SKIP = "com.microsoft::GroupNorm", "com.microsoft::SkipGroupNorm"
_DEFAULT_EPSILON = 1e-5
_MORE_EMITS = "Reshape Shape Sigmoid Unsqueeze"


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Compute in float64."""
    x, gamma, beta = inputs[:3]
    assert x is not None  # the schema wants all three
    return (_grouped(x.astype(np.float64), gamma, beta, attributes).astype(x.dtype),)


def evaluate_sum(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Add and compute in float64."""
    x, gamma, beta, skip, *rest = inputs
    assert x is not None  # the schema wants the first four
    assert skip is not None
    total = x + (skip[:, None, None, :] if skip.ndim == 2 else skip).astype(np.float64)
    for bias in rest:
        total = total if bias is None else total + bias
    result = _grouped(total, gamma, beta, attributes)
    return result.astype(x.dtype), total.astype(x.dtype)


def _grouped(
    x: Array, gamma: Array | None, beta: Array | None, attributes: dict[str, Any]
) -> Array:
    assert gamma is not None
    assert beta is not None
    groups = int(attributes["groups"])
    last = bool(attributes.get("channels_last", 1))
    moved = x if last else np.moveaxis(x, 1, -1)
    parts = moved.reshape(len(x), -1, groups, moved.shape[-1] // groups)
    parts = parts - parts.mean(axis=(1, 3), keepdims=True)
    epsilon = float(attributes.get("epsilon", _DEFAULT_EPSILON))
    parts = parts / np.sqrt((parts**2).mean(axis=(1, 3), keepdims=True) + epsilon)
    result = parts.reshape(moved.shape) * gamma + beta
    result = silu_of(result) if attributes.get("activation", 0) else result
    return result if last else np.moveaxis(result, -1, 1)


@rewrite(_GROUP, emits=(EMITS, _MORE_EMITS), evaluate=evaluate)
def group_norm_to_arithmetic(node: NodeView, build: Builder) -> Value:
    """Normalise by groups, see the module."""
    x = node.need(0)
    need_float(x)
    return like(build, x, _written(node, build, x, wide(build, x)))


@rewrite(_SKIP, emits=(EMITS, _MORE_EMITS), evaluate=evaluate_sum)
def skip_group_norm_to_arithmetic(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Take SkipGroupNorm apart: a sum, normalised by groups."""
    x, skip, bias = node.need(0), node.need(3), node.input(4)
    need_float(x)
    if not int(node.attr("channels_last", 1)):
        raise Refuse("the channels must be last, as onnxruntime wants it; they are not")
    if skip.rank not in (2, x.rank):
        raise Refuse(f"the rank of {skip.name} must be 2 or {x.rank}; it is {skip.rank}")
    other = wide(build, skip)
    if skip.rank == 2:
        other = build.Unsqueeze(other, axes=[1, 2])
    total = build.Add(wide(build, x), other)
    if bias is not None:
        total = build.Add(total, wide(build, bias))
    results = (like(build, x, _written(node, build, x, total)), like(build, x, total))
    return results[: len(node.outputs)]


def _written(node: NodeView, build: Builder, x: Value, data: Value) -> Value:
    last = bool(node.attr("channels_last", 1))
    rank = need_rank(x, 3)
    channels = x.dim(-1 if last else 1)
    groups = int(node.attr("groups"))
    if not channels or groups < 1 or channels % groups:
        raise Refuse(
            f"the channels of {x.name} must be a multiple of {groups} groups; they are "
            f"{channels or 'unknown'}"
        )
    each = channels // groups
    parts = build.Reshape(data, np.array([0, -1, groups, each] if last else [0, groups, each, -1]))
    epsilon = float(node.attr("epsilon", _DEFAULT_EPSILON))
    parts = normalized(build, parts, [1, 3] if last else [2, 3], epsilon)
    result = _whole_again(build, parts, x)
    shape = [1, -1, *[1] * (rank - 2)]
    for operand, write in ((node.need(1), build.Mul), (node.need(2), build.Add)):
        number = wide(build, operand)
        result = write(result, number if last else build.Reshape(number, np.array(shape)))
    return silu(build, result) if int(node.attr("activation", 0)) else result


def _whole_again(build: Builder, parts: Value, x: Value) -> Value:
    assert x.shape is not None
    sizes = [size if isinstance(size, int) else -1 for size in x.shape[1:]]
    if sizes.count(-1) < 2:
        return build.Reshape(parts, np.array([0, *sizes]))
    return build.Reshape(parts, build.Shape(x))
