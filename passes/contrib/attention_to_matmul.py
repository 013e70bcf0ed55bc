"""Take onnxruntime's Attention apart.

What it does: Computes queries, keys and values with one product, takes the heads apart, and writes
    the scaled products, the mask, the softmax and the weighted sum. Past keys and values are put in
    front, and both are returned as the present. QAttention multiplies integers first.
Why engines need it: It is an operator of onnxruntime's optimiser; other engines do not know it.
Before:
    y, present = com.microsoft.Attention <num_heads = N, unidirectional = 1> (x, w, b, mask, past)
After:
    q, k, v = Split (Add (MatMul (x, w), b))       each [B, S, N H], then [B, N, S, H]
    k, v = Concat (past[0], k), Concat (past[1], v)
    s = Add (Mul (MatMul (q, Transpose (k)), 1 / sqrt (H)), mask)
    y = MatMul (Softmax (s), v)                    as [B, S, N H]
When it refuses: The rank, dtype or size of an operand is unknown, the heads do not divide the size,
    the mask has four axes, there is no bias, past and present share a buffer, or there are rotary
    embeddings: onnxruntime's own kernel for CPUs computes none of these.
Accuracy: Exact up to the order of summation; float16 is computed in float32, as onnxruntime does on
    a CPU, and the sums of QAttention are whole. Where a whole row is hidden by the mask, the scores
    are rounded at the size of mask_filter_value on both sides.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.Attention,
    com.microsoft.QAttention; onnxruntime/contrib_ops/cpu/quantization/attention_quant.cc,
    onnxruntime/contrib_ops/cpu/bert/attention.cc, attention_base.h, attention_cpu_base.h,
    attention_helper.h
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from onnx import TensorProto

from graphfix.authoring import Builder, InferredType, NodeView, Refuse, Value, need_rank_of, rewrite

from ._attention import (
    EMITS,
    Lengths,
    added_to_scores,
    attend,
    dim,
    heads_of,
    later_keys,
    padding,
    scale_of,
    size_of_head,
    split_heads,
    total,
    wide,
)
from ._means import like

_NAME, _QUANTIZED = "com.microsoft::Attention", "com.microsoft::QAttention"


class _Places(Struct, frozen=True):
    """Where operands are; None for what the operator does not have."""

    mask: int
    past: int
    bias: int | None


_PLAIN, _WHOLE = _Places(mask=3, past=4, bias=5), _Places(mask=5, past=8, bias=None)


def _sizes(node: NodeView) -> tuple[int, int, int]:
    """Return the sizes of queries, keys and values.

    Raises:
        Refuse: They are unknown or contradict each other.
    """
    weights = node.need(1)
    columns = weights.dim(1) if weights.rank == 2 else None
    if columns is None:
        raise Refuse(f"the size of {weights.name} must be known")
    given = [int(n) for n in node.attr("qkv_hidden_sizes", ())] or [columns // 3] * 3
    if len(given) != 3 or sum(given) != columns or given[0] != given[1]:
        raise Refuse(
            f"{weights.name} must have {given} columns for queries, keys, values; it has {columns}"
        )
    return given[0], given[1], given[2]


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """[B, S, N H] of the type of the input, and keys and values, [2, B, N, P + S, H].

    What is written for it reads the weights, which a look at types must not.
    """
    quantized = node.op == "QAttention"
    x, past = node.input(0), node.input((_WHOLE if quantized else _PLAIN).past)
    if x is None or not x.elem_type:
        return (None,)
    kind = int(TensorProto.FLOAT) if quantized else x.elem_type
    untyped = InferredType(kind)
    if x.shape is None or len(x.shape) != 3:
        return (untyped, untyped)
    try:
        queries, _, values = _sizes(node)
        heads = heads_of(node)
    except Refuse:
        return (untyped, untyped)
    batch, length, _ = x.shape
    before = 0 if past is None else dim(past, 3)
    present = (2, batch, heads, total(before, length), queries // heads)
    return (InferredType(kind, (batch, length, values)), InferredType(kind, present))


@rewrite(_NAME, emits=EMITS, infer=infer)
def attention_to_matmul(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Write projections, masks and products, see the module."""
    need_rank_of(node.need(0), 3)
    sizes = _sizes(node)
    joined = build.MatMul(*(wide(build, node.need(place)) for place in range(2)))
    bias = node.input(2)  # T5 has none
    joined = joined if bias is None else build.Add(joined, wide(build, bias))
    return _attended(node, build, joined, sizes, _PLAIN, node.need(0))


@rewrite(_QUANTIZED, emits=(EMITS, "Add MatMulInteger"), infer=infer)
def q_attention_to_matmul(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Take QAttention apart: projections of integers, scaled, and then Attention."""
    need_rank_of(node.need(0), 3)
    sizes = _sizes(node)
    zeros = [node.input(place) for place in (6, 7)]
    total = build.MatMulInteger(node.need(0), node.need(1), *zeros)
    scale = build.Mul(node.need(3), node.need(4))
    real = build.Mul(build.Cast(total, to=TensorProto.FLOAT), scale)
    joined = build.Add(real, node.need(2))
    return _attended(node, build, joined, sizes, _WHOLE, joined)


def _attended(
    node: NodeView,
    build: Builder,
    joined: Value,
    sizes: tuple[int, int, int],
    places: _Places,
    typed: Value,
) -> tuple[Value | None, ...]:
    """Return result and present of projections that be side by side.

    Args:
        node: The node.
        build: The builder.
        joined: Queries, keys and values, [B, S, N H + N H + N H_v].
        sizes: Their sizes.
        places: Where mask, past and bias of the scores are.
        typed: What has the type of the results.
    """
    if node.attr("do_rotary", 0) or node.attr("past_present_share_buffer", 0):
        raise Refuse(
            "there must be no rotary embeddings and no buffer that past and present share: fuse "
            "the model with MultiHeadAttention and RotaryEmbedding instead"
        )
    past = node.input(places.past)
    bias = None if places.bias is None else node.input(places.bias)
    present = node.output(1)
    if past is not None and (present is None or bias is not None):
        raise Refuse(
            "a past must have a present and no bias of the scores, as onnxruntime wants it"
        )
    heads = heads_of(node)
    head = size_of_head(sizes[0], heads, "the queries")
    head_v = size_of_head(sizes[2], heads, "the values")
    if present is not None and present.is_used and head != head_v:
        raise Refuse("keys and values must have one size to make a present; they differ")
    q, k, v = build.multi("Split", joined, outputs=3, axis=2, split=list(sizes))
    q = split_heads(build, q, heads, head)
    k = split_heads(build, k, heads, head)
    v = split_heads(build, v, heads, head_v)
    if past is not None:
        need_rank_of(past, 5)
        before = [build.Gather(wide(build, past), np.array(place), axis=0) for place in (0, 1)]
        k, v = build.Concat(before[0], k, axis=2), build.Concat(before[1], v, axis=2)
    added = _added(node, build, k, places)
    result, _ = attend(build, q, k, v, values=sizes[2], scale=scale_of(node, head), added=added)
    results: list[Value | None] = [like(build, typed, result), None]
    if present is not None and present.is_used:
        both = [build.Unsqueeze(value, axes=[0]) for value in (k, v)]
        results[1] = like(build, typed, build.Concat(*both, axis=0))
    return tuple(results[: len(node.outputs)])


def _added(node: NodeView, build: Builder, k: Value, places: _Places) -> Value | None:
    """Return what hides keys, and the bias."""
    x, mask, past = node.need(0), node.input(places.mask), node.input(places.past)
    bias = None if places.bias is None else node.input(places.bias)
    lengths = Lengths((x, 1), None if past is None else (past, 3), (k, 2))
    seen = late = None
    if mask is not None:
        keys = dim(x, 1) if past is None else dim(k, 2)
        seen = padding(build, mask, dim(x, 0), keys, lengths, starts=True)
    if int(node.attr("unidirectional", 0)) == 1 and x.dim(1) != 1:
        late = later_keys(build, lengths, last_sees_all=False)
    return added_to_scores(build, node, seen, late, None if bias is None else wide(build, bias))
