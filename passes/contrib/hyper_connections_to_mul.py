"""Take the hyper-connections of onnxruntime's language models apart.

What it does: Writes com.microsoft's HyperConnectionPreMix, HyperConnectionPostMix and EngramGate as
    the arithmetic that their pages give: weighted sums over the streams, and a gate of two norms.
Why engines need it: They are operators of onnxruntime 1.31 for language models; other engines do
    not know them.
Before:
    y = com.microsoft.HyperConnectionPreMix <reduction_scale = 0.5> (streams, mix)  # [B, S, C, H]
After: y = Mul (ReduceSum <axes = [2]> (Mul (streams, Unsqueeze (mix))), 0.5)
When it refuses: The dtype or the rank of an operand is unknown, or a size that tells its layout; an
    operand has another form than its page names.
Accuracy: Exact up to rounding; float16 and bfloat16 are computed in float32.
References: microsoft/onnxruntime docs/ContribOperators.md, the pages of these operators; the
    numbers were held to the kernels of onnxruntime 1.31
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, needed, rewrite

from ._means import EMITS, divided, like, wide
from ._typing import need_float

_BEFORE, _AFTER = "com.microsoft::HyperConnectionPreMix", "com.microsoft::HyperConnectionPostMix"
_GATE = "com.microsoft::EngramGate"
_EPSILON = 1e-5
_LEAST = 1e-6  # of what is under the root of the gate


@rewrite(_BEFORE, emits="Cast Mul ReduceSum Reshape Unsqueeze")
def hyper_connection_pre_mix_to_mul(node: NodeView, build: Builder) -> Value:
    """Take HyperConnectionPreMix apart: a weighted sum of the streams."""
    x = node.need(0)
    streams, rank = _streams(node, build)
    weights = _weights(node, build, node.need(1), rank)
    total = build.ReduceSum(build.Mul(streams, weights), axes=[rank - 2], keepdims=0)
    scale = float(node.attr("reduction_scale", 1.0))
    return like(build, x, total if scale == 1 else build.Mul(total, scale))


@rewrite(_AFTER, emits="Add Cast MatMul Mul Reshape Transpose Unsqueeze")
def hyper_connection_post_mix_to_mul(node: NodeView, build: Builder) -> Value:
    """Take HyperConnectionPostMix apart: streams mixed, and what is new in each."""
    x, mix = node.need(0), node.input(3)
    streams, rank = _streams(node, build)
    if mix is not None:
        if mix.rank != rank:
            raise Refuse(f"{mix.name} must have {rank} dimensions; it has {mix.rank or 'unknown'}")
        turned = [*range(rank - 2), rank - 1, rank - 2]
        streams = build.MatMul(build.Transpose(wide(build, mix), perm=turned), streams)
    new = build.Unsqueeze(wide(build, node.need(1)), axes=[rank - 2])
    weights = _weights(node, build, node.need(2), rank)
    result = build.Add(streams, build.Mul(weights, new))
    if int(node.attr("num_branches", 0)):
        result = build.Reshape(result, np.array([*[0] * (rank - 2), x.dim(-1)]))
    return like(build, x, result)


def _streams(node: NodeView, build: Builder) -> tuple[Value, int]:
    """Return the streams as [..., C, H], and how many dimensions these are."""
    x, branches = node.need(0), int(node.attr("num_branches", 0))
    need_float(x)
    if x.rank is None or x.rank < (1 if branches else 2):
        raise Refuse(f"the rank of {x.name} must be known and hold the streams; it is {x.rank}")
    data = wide(build, x)
    if not branches:
        return data, x.rank
    last = x.dim(-1)
    if not last or last % branches:
        raise Refuse(f"the last size of {x.name} must be a multiple of {branches}; it is {last}")
    shape = np.array([*[0] * (x.rank - 1), branches, last // branches])
    return build.Reshape(data, shape), x.rank + 1


def _weights(node: NodeView, build: Builder, weights: Value, rank: int) -> Value:
    """Return weights of streams, [..., C], [..., C, 1] or [..., C, H], of the rank of streams."""
    branches = int(node.attr("num_branches", 0)) or node.need(0).dim(-2)
    data, last = wide(build, weights), weights.dim(-1) if weights.rank else None
    if weights.rank == rank:
        return data
    if weights.rank != rank - 1 or not last or not branches:
        raise Refuse(
            f"{weights.name} must have {rank - 1} or {rank} dimensions and the streams be "
            f"counted; it has {weights.rank or 'unknown'}"
        )
    if last == branches:
        return build.Unsqueeze(data, axes=[rank - 1])
    if last % branches:
        raise Refuse(f"the last size of {weights.name} must be a multiple of {branches}; {last}")
    return build.Reshape(data, np.array([*[0] * (rank - 2), branches, last // branches]))


@rewrite(_GATE, emits=(EMITS, "Abs Max Sigmoid Sign Unsqueeze"))
def engram_gate_to_mul(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Take EngramGate apart: the product of two norms opens the gate of a value."""
    key, value = node.need(0), node.need(2)
    need_float(key)
    width = key.dim(-1) if key.rank == 4 else None
    if not width:
        raise Refuse(f"{key.name} must have four dimensions, the last one known")
    epsilon = float(node.attr("epsilon", _EPSILON))
    parts = [
        build.Mul(
            divided(build, wide(build, node.need(at)), [3], epsilon), wide(build, node.need(at + 3))
        )
        for at in (0, 1)
    ]
    product = build.ReduceSum(build.Mul(parts[0], parts[1]), axes=[3], keepdims=1)
    product = build.Mul(product, float(1 / np.sqrt(width)))
    root = build.Sqrt(build.Max(build.Abs(product), np.float32(_LEAST)))
    gate = build.Sigmoid(build.Mul(build.Sign(product), root))
    passed = build.Mul(gate, build.Unsqueeze(wide(build, value), axes=[2]))
    results: list[Value | None] = [like(build, key, passed), None]
    normed = node.output(1)
    if normed is not None:
        scale = needed(node.input(5), "the scale of the second result must be given; it is not")
        normal = build.Mul(divided(build, passed, [3], epsilon), wide(build, scale))
        results[1] = like(build, key, normal)
    return tuple(results[: len(node.outputs)])
