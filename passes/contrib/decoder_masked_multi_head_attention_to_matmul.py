"""Take onnxruntime's DecoderMaskedMultiHeadAttention apart.

What it does: Puts the key and the value of the one new token into the buffers of past ones, and
    writes the scaled products, what hides the rest of the buffer, the softmax and the weighted sum.
    Without a past it attends to the keys of an encoder.
Why engines need it: It is an operator of onnxruntime's optimiser for generation; other engines do
    not know it.
Before:
    y, pk, pv = com.microsoft.DecoderMaskedMultiHeadAttention
        <num_heads = N, past_present_share_buffer = 1> (q, k, v, , , pk0, pv0, length)
After:
    pk = Where (Equal (places, length), k, pk0), pv likewise                [B, N, M, H]
    y = MatMul (Softmax (q pk' / sqrt (H) + (Greater (places, length) ? lowest : 0)), pv)
When it refuses: The rank, dtype or size of an operand is unknown, the heads do not divide the size,
    keys are packed with queries, there are beams, the products are an output, or a mask or a bias
    of the scores comes with a past: they end where the past does, so that their size depends on
    numbers.
Accuracy: Exact up to the order of summation. As in onnxruntime past and present share one buffer of
    which the length says how much counts.
References: microsoft/onnxruntime docs/ContribOperators.md,
    com.microsoft.DecoderMaskedMultiHeadAttention;
    onnxruntime/contrib_ops/cpu/bert/decoder_masked_multihead_attention.cc
"""

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, InferredType, NodeView, Refuse, Value, need_rank_of, rewrite

from ._attention import (
    EMITS,
    LOWEST,
    Lengths,
    added_to_scores,
    attend,
    dim,
    heads_of,
    numbered,
    padding,
    scale_of,
    size,
    size_of_head,
    split_heads,
    wide,
)
from ._means import like

_NAME = "com.microsoft::DecoderMaskedMultiHeadAttention"
_MASK, _SCORE_BIAS, _PAST, _LENGTH, _BEAMS, _BIAS = 3, 4, 5, 7, (8, 9), 10
_SCORES = 3  # the output


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """[B, 1, N H], and the buffers as they were.

    Where it cannot be written, what comes after it is judged all the same.
    """
    q, keys, values = (node.input(place) for place in (0, _PAST, _PAST + 1))
    if q is None or not q.elem_type:
        return (None,)
    shapes = [None if x is None else x.shape for x in (q, keys, values)]
    return tuple(InferredType(q.elem_type, shape) for shape in shapes)


@rewrite(_NAME, emits=EMITS, infer=infer)
def decoder_masked_multi_head_attention_to_matmul(
    node: NodeView, build: Builder
) -> tuple[Value | None, ...]:
    """Attend with one new token, see the module."""
    q, past = node.need(0), node.input(_PAST)
    need_rank_of(q, 3)
    if node.input(1) is None or node.input(2) is None:
        raise Refuse("keys and values must be given; they are packed with the queries")
    if any(node.input(place) is not None for place in _BEAMS):
        raise Refuse("there must be one beam; there are several: unpack the search first")
    scores = node.output(_SCORES)
    if scores is not None and scores.is_used:
        raise Refuse("the products of queries and keys must not be an output; they are")
    heads = heads_of(node)
    head = size_of_head(q.dim(2), heads, "the queries")
    results = _to_encoder if past is None else _to_past
    return results(node, build, heads, head)[: len(node.outputs)]


def _biased(node: NodeView, build: Builder, heads: int, head: int, count: int) -> list[Value]:
    """Return the first `count` of queries, keys and values by heads, the bias added."""
    bias, width = node.input(_BIAS), heads * head
    parts = [wide(build, node.need(place)) for place in range(count)]
    if bias is not None:
        added = build.multi("Split", wide(build, bias), outputs=3, axis=0, split=[width] * 3)
        parts = [build.Add(part, more) for part, more in zip(parts, added, strict=False)]
    return [split_heads(build, part, heads, head) for part in parts]


def _to_encoder(node: NodeView, build: Builder, heads: int, head: int) -> tuple[Value | None, ...]:
    """Attend to keys and values that come by heads, [B, N, L, H]."""
    q, key, value = (node.need(place) for place in range(3))
    mask = node.input(_MASK)
    need_rank_of(key, 4)
    need_rank_of(value, 4)
    if node.input(_SCORE_BIAS) is not None:
        raise Refuse("the scores must have no bias, as onnxruntime wants it; they have one")
    seen = None
    if mask is not None:
        need_rank_of(mask, 2)
        lengths = Lengths((q, 1), None, (key, 2))
        seen = padding(build, mask, dim(q, 0), dim(key, 2), lengths, starts=False)
    (queries,) = _biased(node, build, heads, head, 1)
    added = added_to_scores(build, node, seen, None, None)
    k, v = wide(build, key), wide(build, value)
    scale = scale_of(node, head)
    result, _ = attend(build, queries, k, v, values=heads * head, scale=scale, added=added)
    return (like(build, q, result), None, None, None)


def _to_past(node: NodeView, build: Builder, heads: int, head: int) -> tuple[Value | None, ...]:
    """Attend to what is in the buffers, [B, N, M, H], and the new token."""
    q, length = node.need(0), node.input(_LENGTH)
    buffers = [node.need(_PAST), node.need(_PAST + 1)]
    for x in (*(node.need(place) for place in (1, 2)), *buffers):
        need_rank_of(x, 4 if x in buffers else 3)
    if length is None or not int(node.attr("past_present_share_buffer", 0)):
        raise Refuse("past and present must share a buffer, and its length be given; they are not")
    if node.input(_MASK) is not None or node.input(_SCORE_BIAS) is not None:
        raise Refuse(
            "there must be neither a mask nor a bias of the scores: they are as long as the past, "
            "which is a number of an input"
        )
    if node.need(2).dim(2) != heads * head:
        raise Refuse("keys and values must have heads of one size; they have not, or it is unknown")
    queries, *new = _biased(node, build, heads, head, 3)
    places = numbered(build, size(build, buffers[0], 2))
    end = build.Reshape(build.Cast(length, to=TensorProto.INT64), np.array([1]))
    here = build.Unsqueeze(build.Equal(places, end), axes=[0, 1, 3])
    k, v = (
        build.Where(here, token, wide(build, past))
        for token, past in zip(new, buffers, strict=True)
    )
    after = build.Unsqueeze(build.Greater(places, end), axes=[0, 1, 2])
    added = build.Where(after, np.array(LOWEST, np.float32), np.array(0, np.float32))
    scale = scale_of(node, head)
    result, _ = attend(build, queries, k, v, values=heads * head, scale=scale, added=added)
    return (*(like(build, q, x) for x in (result, k, v)), None)
