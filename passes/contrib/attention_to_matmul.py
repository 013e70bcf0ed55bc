"""Take onnxruntime's Attention apart.

What it does:
    Computes queries, keys and values with one product, takes the heads apart, and writes the
    scaled products, the mask, the softmax and the weighted sum. Past keys and values are put in
    front, and both are given out as the present.

Why engines need it:
    It is an operator of onnxruntime's optimiser; other engines do not know it.

Before:
    y, present = com.microsoft.Attention <num_heads = N, unidirectional = 1> (x, w, b, mask, past)

After:
    q, k, v = Split (Add (MatMul (x, w), b))       each [B, S, N H], then [B, N, S, H]
    k, v = Concat (past[0], k), Concat (past[1], v)
    s = Add (Mul (MatMul (q, Transpose (k)), 1 / sqrt (H)), mask)
    y = MatMul (Softmax (s), v)                    as [B, S, N H]

When it refuses:
    The rank, dtype or size of an operand is unknown, the heads do not divide the size, the mask
    has four axes, there is no bias, past and present share a buffer, or there are rotary
    embeddings: onnxruntime's own kernel for CPUs computes none of these.

Accuracy:
    Exact up to the order of summation; float16 is computed in float32, as onnxruntime does on a
    CPU. Where a whole row is hidden by the mask, the scores are rounded at the size of
    mask_filter_value on both sides.

References:
    microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.Attention;
    onnxruntime/contrib_ops/cpu/bert/attention.cc, attention_base.h, attention_cpu_base.h,
    attention_helper.h
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphfix.authoring import Builder, InferredType, NodeView, Refuse, Value, rewrite
from graphfix.passes.contrib._attention import (
    EMITS,
    Lengths,
    added_to_scores,
    attend,
    dim,
    heads_of,
    later_keys,
    like,
    need_rank,
    padding,
    scale_of,
    size_of_head,
    split_heads,
    total,
    wide,
)

_NAME = "com.microsoft::Attention"
_PAST, _BIAS = 4, 5


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
    """[B, S, N H] of the type of the input, and keys and values, [2, B, N, P + S, H]."""
    x, past = node.input(0), node.input(_PAST)
    if x is None or not x.elem_type:
        return (None,)
    untyped = InferredType(x.elem_type)
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
    return (InferredType(x.elem_type, (batch, length, values)), InferredType(x.elem_type, present))


@rewrite(_NAME, removes=f"op:{_NAME}", emits=EMITS, infer=infer)
def attention_to_matmul(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Write projections, masks and products, see the module."""
    x = node.need(0)
    need_rank(x, 3)
    if node.attr("do_rotary", 0) or node.attr("past_present_share_buffer", 0):
        raise Refuse("there must be no rotary embeddings and no buffer that past and present share")
    past, bias = node.input(_PAST), node.input(_BIAS)
    present = node.output(1)
    if past is not None and (present is None or bias is not None):
        raise Refuse(
            "a past must have a present and no bias of the scores, as onnxruntime wants it"
        )
    heads, sizes = heads_of(node), _sizes(node)
    head = size_of_head(sizes[0], heads, "the queries")
    head_v = size_of_head(sizes[2], heads, "the values")
    if present is not None and present.is_used and head != head_v:
        raise Refuse("keys and values must have one size to make a present; they differ")
    q, k, v = _projections(node, build, sizes)
    q = split_heads(build, q, heads, head)
    k = split_heads(build, k, heads, head)
    v = split_heads(build, v, heads, head_v)
    if past is not None:
        need_rank(past, 5)
        before = [build.Gather(wide(build, past), np.array(place), axis=0) for place in (0, 1)]
        k, v = build.Concat(before[0], k, axis=2), build.Concat(before[1], v, axis=2)
    added = _added(node, build, k)
    result, _ = attend(build, q, k, v, values=sizes[2], scale=scale_of(node, head), added=added)
    results: list[Value | None] = [like(build, x, result), None]
    if present is not None and present.is_used:
        both = [build.Unsqueeze(value, axes=[0]) for value in (k, v)]
        results[1] = like(build, x, build.Concat(*both, axis=0))
    return tuple(results[: len(node.outputs)])


def _projections(node: NodeView, build: Builder, sizes: tuple[int, int, int]) -> list[Value]:
    x, weights, bias = (wide(build, node.need(place)) for place in range(3))
    joined = build.Add(build.MatMul(x, weights), bias)
    parts = build.multi("Split", joined, outputs=3, axis=2, split=list(sizes))
    return list(parts)


def _added(node: NodeView, build: Builder, k: Value) -> Value | None:
    """Return what hides keys, and the bias."""
    x, mask, past, bias = (node.input(place) for place in (0, 3, _PAST, _BIAS))
    assert x is not None
    lengths = Lengths((x, 1), None if past is None else (past, 3), (k, 2))
    seen = late = None
    if mask is not None:
        keys = dim(x, 1) if past is None else dim(k, 2)
        seen = padding(build, mask, dim(x, 0), keys, lengths, starts=True)
    if int(node.attr("unidirectional", 0)) == 1 and x.dim(1) != 1:
        late = later_keys(build, lengths, last_sees_all=False)
    return added_to_scores(build, node, seen, late, None if bias is None else wide(build, bias))
