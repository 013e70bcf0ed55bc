"""Take HyperConnectionLowRankMix apart.

What it does: Writes the arithmetic of its page: what the block before gave joins the streams, each
    stream is divided by its root mean square, a product of low rank opens a gate for each number,
    and the streams are summed through it; another product opens the gates of the next call.
Why engines need it: It is an operator of onnxruntime 1.32 for language models; other engines do not
    know it.
Before: y, gate = com.microsoft.HyperConnectionLowRankMix <num_branches = C> (x, scale, down, up, w)
After:
    n = x / Sqrt (mean of x^2 by stream + epsilon) * scale
    d = MatMul (n, down), times its Sigmoid
    y = ReduceSum (n * Sigmoid (MatMul (d, up)))      # over the streams
    gate = Sigmoid (MatMul (n, w))
When it refuses: The dtype or the rank of an operand is unknown, the last size is unknown or no
    multiple of the streams, one of the two operands of the block before is missing, gate_div is 0.
Accuracy: Exact up to rounding; float16 and bfloat16 are computed in float32, and rounded at the end
    where the page rounds every step.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.HyperConnectionLowRankMix,
    which has kernels for CUDA alone: the numbers were held to the formula of the page
"""

from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, rewrite

from ._gelu import silu, silu_of
from ._means import EMITS, divided, like, wide
from ._typing import need_float

_NAME = "com.microsoft::HyperConnectionLowRankMix"
_EPSILON = 1e-5
_BEFORE, _GATES = 5, 6  # what the block before gave, and its gates


def low_rank_mix(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Compute in float64."""
    given = [None if x is None else np.asarray(x, np.float64) for x in inputs]
    x, scale, down, up, inject = (np.asarray(each) for each in given[:5])
    branches = int(attributes["num_branches"])
    streams = x.reshape(*x.shape[:-1], branches, -1)
    before = given[_BEFORE] if len(given) > _BEFORE else None
    gates = given[_GATES] if len(given) > _GATES else None
    if before is not None and gates is not None:
        streams = streams + gates[..., :, None] * before[..., None, :]
    epsilon = attributes.get("epsilon", _EPSILON)
    root = np.sqrt((streams**2).mean(axis=-1, keepdims=True) + epsilon)
    normal = streams / root * scale.reshape(branches, -1)
    flat = normal.reshape(x.shape)
    hidden = silu_of(attributes.get("silu_alpha", 1.0) * (flat @ down))
    opened = 1 / (1 + np.exp(-(hidden @ up))).reshape(streams.shape)
    result = attributes.get("reduction_scale", 1.0) * (normal * opened).sum(axis=-2)
    later = 1 / (1 + np.exp(-(flat @ inject) / attributes.get("gate_div", 1.0)))
    later = later * attributes.get("gate_mul", 1.0)
    kind = np.asarray(inputs[0]).dtype
    return tuple(each.astype(kind) for each in (result, later, streams.reshape(x.shape)))


@rewrite(_NAME, emits=(EMITS, "MatMul Reshape Sigmoid Unsqueeze"), evaluate=low_rank_mix)
def hyper_connection_low_rank_mix_to_matmul(
    node: NodeView, build: Builder
) -> tuple[Value | None, ...]:
    """Write the block out, see the module."""
    x = node.need(0)
    branches, width = _sizes(node)
    rank = x.rank or 0
    apart, flat = [0] * (rank - 1) + [branches, width], [0] * (rank - 1) + [branches * width]
    streams = build.Reshape(wide(build, x), np.array(apart))
    before, gates = node.input(_BEFORE), node.input(_GATES)
    if before is not None and gates is not None:
        gate = build.Unsqueeze(wide(build, gates), axes=[rank])
        new = build.Unsqueeze(wide(build, before), axes=[rank - 1])
        streams = build.Add(streams, build.Mul(gate, new))
    scale = build.Reshape(wide(build, node.need(1)), np.array([branches, width]))
    epsilon = float(node.attr("epsilon", _EPSILON))
    normal = build.Mul(divided(build, streams, [rank], epsilon), scale)
    joined = build.Reshape(normal, np.array(flat))
    hidden = build.MatMul(joined, wide(build, node.need(2)))
    hidden = silu(build, _times(node, build, "silu_alpha", hidden))
    opened = build.Sigmoid(build.MatMul(hidden, wide(build, node.need(3))))
    mixed = build.Mul(normal, build.Reshape(opened, np.array(apart)))
    total = build.ReduceSum(mixed, axes=[rank - 1], keepdims=0)
    later = build.MatMul(joined, wide(build, node.need(4)))
    later = build.Sigmoid(build.Div(later, float(node.attr("gate_div", 1.0))))
    results = [
        _times(node, build, "reduction_scale", total),
        _times(node, build, "gate_mul", later),
    ]
    if len(node.outputs) > len(results):
        results.append(build.Reshape(streams, np.array(flat)))
    return tuple(like(build, x, each) for each in results)


def _times(node: NodeView, build: Builder, name: str, value: Value) -> Value:
    factor = float(node.attr(name, 1.0))
    return value if factor == 1 else build.Mul(value, factor)


def _sizes(node: NodeView) -> tuple[int, int]:
    """Return how many streams there are, and their width.

    Raises:
        Refuse: The operands do not tell, or do not fit.
    """
    x, branches = node.need(0), int(node.attr("num_branches", 0))
    need_float(x)
    last = x.dim(-1) if x.rank else None
    if not last or branches < 1 or last % branches:
        raise Refuse(
            f"the last size of {x.name} must be known and a multiple of {branches} streams; it is "
            f"{last or 'unknown'}"
        )
    if (node.input(_BEFORE) is None) != (node.input(_GATES) is None):
        raise Refuse("what the block before gave and its gates must come together; one is missing")
    if not float(node.attr("gate_div", 1.0)):
        raise Refuse("gate_div must not be 0; it is")
    return branches, last // branches
