"""Take BiasSplitGelu and GemmFastGelu apart.

What it does: Writes BiasSplitGelu as a sum that is cut in two halves of its last axis, the left one
    times Gelu of the right one; GemmFastGelu as MatMul, a bias where there is one, and Gelu by
    tanh.
Why engines need it: They are operators of onnxruntime's optimiser for graphics processors; other
    engines do not know them, and onnxruntime itself does not have them on a CPU.
Before: y = com.microsoft.BiasSplitGelu (x, bias)
After:
    left, right = Split <axis = -1> (Add (x, bias))
    y = Mul (left, Mul (Mul (right, 0.5), Add (Erf (Mul (right, 0.70710678)), 1)))
When it refuses: The dtype, the rank or the size of the last axis is unknown.
Accuracy: Exact up to rounding; float16 and bfloat16 are computed in float32.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.BiasSplitGelu,
    com.microsoft.GemmFastGelu; onnxruntime/contrib_ops/cuda/diffusion/bias_split_gelu_impl.cu
"""

from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, rewrite

from . import _gelu as gelu
from ._means import like, wide
from ._typing import need_float

_SPLIT, _GEMM = "com.microsoft::BiasSplitGelu", "com.microsoft::GemmFastGelu"


def evaluate_halves(inputs: list[Array | None], _: dict[str, Any]) -> tuple[Array, ...]:
    """Compute in float64."""
    x, bias = inputs[:2]
    assert x is not None  # the schema wants both
    assert bias is not None
    left, right = np.split(x.astype(np.float64) + bias, 2, axis=-1)
    return ((left * gelu.erf_of(right)).astype(x.dtype),)


def evaluate_product(inputs: list[Array | None], _: dict[str, Any]) -> tuple[Array, ...]:
    """Compute in float64."""
    x, w, *rest = inputs
    assert x is not None  # the schema wants both
    assert w is not None
    total = x.astype(np.float64) @ w
    for bias in rest:
        total = total if bias is None else total + bias
    return (gelu.tanh_of(total).astype(x.dtype),)


@rewrite(_SPLIT, emits=(gelu.EMITS, "Cast Split"), evaluate=evaluate_halves)
def bias_split_gelu_to_erf(node: NodeView, build: Builder) -> Value:
    """Cut in two halves, see the module."""
    x = node.need(0)
    need_float(x)
    size = x.dim(-1) if x.rank else None
    if x.rank is None or not size or size % 2:
        raise Refuse(f"the size of the last axis of {x.name} must be known and even; it is {size}")
    total = build.Add(wide(build, x), wide(build, node.need(1)))
    half = size // 2
    left, right = build.multi("Split", total, outputs=2, axis=x.rank - 1, split=[half, half])
    return like(build, x, build.Mul(left, gelu.by_erf(build, right)))


@rewrite(_GEMM, emits=(gelu.EMITS, "Cast MatMul"), evaluate=evaluate_product)
def gemm_fast_gelu_to_matmul(node: NodeView, build: Builder) -> Value:
    """Take GemmFastGelu apart: a product, a bias and Gelu by tanh."""
    x, bias = node.need(0), node.input(2)
    need_float(x)
    total = build.MatMul(wide(build, x), wide(build, node.need(1)))
    if bias is not None:
        total = build.Add(total, wide(build, bias))
    return like(build, x, gelu.by_tanh(build, total))
