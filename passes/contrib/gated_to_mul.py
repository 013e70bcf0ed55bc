"""Take the gates of onnxruntime's language models apart.

What it does: Writes com.microsoft's ScaledSiLU, SwiGLU, GatedAdd, LinearAttentionGate, GatedRMSNorm
    and BranchwiseRMSNorm as the arithmetic that their pages give.
Why engines need it: They are operators of onnxruntime 1.32 for language models; other engines do
    not know them.
Before: y = com.microsoft.SwiGLU <activation_alpha = 1.702> (gate, up)
After: y = Mul (Mul (gate, Sigmoid (Mul (gate, 1.702))), up)
When it refuses: The dtype, the rank or the last size is unknown; both halves of SwiGLU come in one;
    the gate of GatedAdd is projected; a size does not fit.
Accuracy: Exact up to rounding; float16 and bfloat16 are computed in float32.
References: microsoft/onnxruntime docs/ContribOperators.md, the pages of these operators
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._gelu import silu
from ._means import EMITS, divided, like, wide
from ._swiglu import swiglu, swiglu_of
from ._typing import need_float

_SILU, _SWIGLU = "com.microsoft::ScaledSiLU", "com.microsoft::SwiGLU"
_ADD, _GATE = "com.microsoft::GatedAdd", "com.microsoft::LinearAttentionGate"
_GATED, _BRANCHES = "com.microsoft::GatedRMSNorm", "com.microsoft::BranchwiseRMSNorm"
_EPSILON = 1e-5


@rewrite(_SILU, emits="Cast Mul Sigmoid")
def scaled_silu_to_mul(node: NodeView, build: Builder) -> Value:
    """Take ScaledSiLU apart: a scale, and x sigmoid (x)."""
    x, scale = node.need(0), node.input(1)
    need_float(x)
    data = wide(build, x)
    if scale is not None:
        data = build.Mul(data, wide(build, scale))
    elif float(node.attr("alpha", 1.0)) != 1:
        data = build.Mul(data, float(node.attr("alpha", 1.0)))
    return like(build, x, silu(build, data))


@rewrite(_SWIGLU, emits="Add Cast Clip Min Mul Sigmoid", evaluate=swiglu)
def swiglu_to_mul(node: NodeView, build: Builder) -> Value:
    """Take SwiGLU apart: x sigmoid (alpha x), limited, times the other half."""
    x, other = node.need(0), node.input(1)
    need_float(x)
    if other is None or int(node.attr("round_activation", 0)):
        raise Refuse("both halves must be given, and the gate not be rounded; one is otherwise")
    return like(build, x, swiglu_of(node, build, wide(build, x), wide(build, other)))


@rewrite(_ADD, emits="Add Mul")
def gated_add_to_add(node: NodeView, build: Builder) -> Value:
    """Take GatedAdd apart: x + y gate."""
    if node.input(3) is not None:
        raise Refuse("the gate must be given as it is; it is projected")
    return build.Add(node.need(0), build.Mul(node.need(1), node.need(2)))


@rewrite(_GATE, emits="Add Cast Mul Sigmoid Softplus")
def linear_attention_gate_to_softplus(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Take LinearAttentionGate apart: decay by Softplus, rate by Sigmoid."""
    x, rate = node.need(0), node.input(3)
    need_float(x)
    decay = build.Softplus(build.Add(wide(build, x), node.need(1)))
    results: list[Value | None] = [like(build, x, build.Mul(decay, node.need(2))), None]
    used = node.output(1)
    if used is not None and rate is not None:
        results[1] = like(build, x, build.Sigmoid(wide(build, rate)))
    return tuple(results[: len(node.outputs)])


@rewrite(_GATED, emits=(EMITS, "Reshape Shape Sigmoid"))
def gated_rms_norm_to_mul(node: NodeView, build: Builder) -> Value:
    """Take GatedRMSNorm apart: a norm by groups of the scale's length, times a gate."""
    x, scale = node.need(0), node.need(1)
    need_float(x)
    size, last = scale.dim(0) if scale.rank == 1 else None, x.dim(-1) if x.rank else None
    if not size or not last or last % size or x.rank is None:
        raise Refuse(f"the last size of {x.name} must be a multiple of that of the scale")
    name = str(node.attr("activation", "silu"))
    if name not in ("silu", "swish", "sigmoid"):
        raise Refuse(f"the gate must be silu, swish or sigmoid; it is {name}")
    data, grouped = wide(build, x), last != size
    if grouped:
        data = build.Reshape(data, np.array([*[0] * (x.rank - 1), last // size, size]))
    axis = x.rank if grouped else x.rank - 1
    normal = build.Mul(divided(build, data, [axis], _epsilon(node)), wide(build, scale))
    if grouped:
        normal = build.Reshape(normal, np.array([*[0] * (x.rank - 1), last]))
    gate = wide(build, node.need(2))
    gate = build.Sigmoid(gate) if name == "sigmoid" else silu(build, gate)
    return like(build, x, build.Mul(normal, gate))


@rewrite(_BRANCHES, emits=(EMITS, "Reshape"))
def branchwise_rms_norm_to_mul(node: NodeView, build: Builder) -> Value:
    """Take BranchwiseRMSNorm apart: a norm of every branch."""
    x, scale, flat = node.need(0), node.input(1), int(node.attr("num_branches", 0))
    need_float(x)
    last = x.dim(-1) if x.rank else None
    if x.rank is None or not last or (flat and last % flat):
        raise Refuse(f"the last size of {x.name} must be known and hold the branches")
    data = wide(build, x)
    if flat:
        data = build.Reshape(data, np.array([*[0] * (x.rank - 1), flat, last // flat]))
    width = last // flat if flat else last
    branches = flat or (x.dim(-2) if x.rank > 1 else None)
    result = divided(build, data, [x.rank if flat else x.rank - 1], _epsilon(node))
    if scale is not None:
        factor = wide(build, scale)
        if scale.rank == 1 and scale.dim(0) != width:
            if not branches:
                raise Refuse(f"the number of branches of {x.name} must be known")
            factor = build.Reshape(factor, np.array([branches, width]))
        result = build.Mul(result, factor)
    if flat:
        result = build.Reshape(result, np.array([*[0] * (x.rank - 1), last]))
    return like(build, x, result)


def _epsilon(node: NodeView) -> float:
    return float(node.attr("epsilon", _EPSILON))
