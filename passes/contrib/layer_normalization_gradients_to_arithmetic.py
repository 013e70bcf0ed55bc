"""Write the gradients of LayerNormalization as sums and products.

What it does: Scales what comes from the end, takes off its mean and its share of the normalised
    numbers, and sums over the rows for scale and bias. SimplifiedLayerNormalizationGrad has no mean
    and no bias.
Why engines need it: onnxruntime's training writes these operators into the models that it makes;
    only a build of onnxruntime for training has kernels for them.
Before:
    dx, dscale, dbias = com.microsoft.LayerNormalizationGrad <axis = -1> (dy, x, scale, mean, inv)
After:
    n = Mul (Sub (x, mean), inv)
    b = Mul (Mul (dy, scale), inv)
    dx = Sub (Sub (b, ReduceMean (b)), Mul (n, ReduceMean (Mul (b, n))))
    dscale = ReduceSum (Mul (dy, n))
    dbias = ReduceSum (dy)
When it refuses: The rank of x or a type is unknown, mean and inv have other ranks than x, or the
    scale has other axes than those that are normalised.
Accuracy: Exact up to rounding and the order of summation; float16 and bfloat16 are computed in
    float32.
References: microsoft/onnxruntime orttraining/orttraining/training_ops/cpu/nn/layer_norm.cc
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, rewrite

from ._means import like, mean, wide
from ._typing import need_float

_FULL, _SIMPLIFIED = "LayerNormalizationGrad", "SimplifiedLayerNormalizationGrad"
_NAMES = tuple(f"com.microsoft::{name}" for name in (_FULL, _SIMPLIFIED))


def numbers(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Compute it in float64; `attributes` has the operator."""
    given = [value.astype(np.float64) for value in inputs if value is not None]
    x, scale = inputs[1], inputs[2]
    assert x is not None, "its page wants it"
    assert scale is not None, "its page wants it"
    axis = int(attributes.get("axis", -1)) % x.ndim
    rows = prod(x.shape[:axis])
    flat = [value.reshape(rows, -1) for value in given[:2]]
    gamma = given[2].reshape(1, -1)
    sides = [value.reshape(rows, 1) for value in given[3:]]
    simple = attributes["operator"] == _SIMPLIFIED
    norm = (flat[1] if simple else flat[1] - sides[0]) * sides[-1]
    back = flat[0] * gamma * sides[-1]
    dx = back - norm * (back * norm).mean(1, keepdims=True)
    if not simple:
        dx = dx - back.mean(1, keepdims=True)
    dscale = (flat[0] * norm).sum(0).reshape(scale.shape).astype(scale.dtype)
    results = (dx.reshape(x.shape).astype(x.dtype), dscale)
    if simple:
        return results
    return (*results, flat[0].sum(0).reshape(scale.shape).astype(scale.dtype))


@rewrite(_NAMES, emits="Cast Div Mul ReduceMean ReduceSum Sub", evaluate=numbers)
def layer_normalization_gradients_to_arithmetic(
    node: NodeView, build: Builder
) -> tuple[Value | None, ...]:
    """Write the sums, see the module."""
    simple = node.op == _SIMPLIFIED
    dy, x, scale = node.need(0), node.need(1), node.need(2)
    sides = [node.need(3)] if simple else [node.need(3), node.need(4)]
    for value in (dy, x, scale, *sides):
        need_float(value)
    axes = _axes(node, x, scale, sides)
    after = wide(build, dy)
    inverse = wide(build, sides[-1])
    away = wide(build, x) if simple else build.Sub(wide(build, x), wide(build, sides[0]))
    norm = build.Mul(away, inverse)
    back = build.Mul(build.Mul(after, wide(build, scale)), inverse)
    result = build.Sub(back, build.Mul(norm, mean(build, build.Mul(back, norm), axes)))
    if not simple:
        result = build.Sub(result, mean(build, back, axes))
    outer = list(range(axes[0]))
    along = [build.Mul(after, norm), *([] if simple else [after])]
    sums = [build.ReduceSum(each, axes=outer, keepdims=0) if outer else each for each in along]
    found = [like(build, x, result), *(like(build, scale, each) for each in sums)]
    return tuple(
        value if node.output(place) is not None else None
        for place, value in enumerate(found[: len(node.outputs)])
    )


def _axes(node: NodeView, x: Value, scale: Value, sides: Sequence[Value]) -> list[int]:
    """Return the axes that are normalised.

    Raises:
        Refuse: They are not known, or do not fit.
    """
    rank, axis = x.rank, int(node.attr("axis", -1))
    if not rank or not -rank <= axis < rank:
        raise Refuse(f"the rank of {x.name} must be known and have axis {axis}; it is {rank}")
    axes = list(range(axis % rank, rank))
    if scale.rank != len(axes):
        raise Refuse(f"{scale.name} must have {len(axes)} axes; it has {scale.rank}")
    odd = [side for side in sides if side.rank != rank]
    if odd:
        raise Refuse(f"{odd[0].name} must have the rank {rank} of {x.name}; it is {odd[0].rank}")
    return axes
