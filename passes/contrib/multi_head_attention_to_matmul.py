"""Take onnxruntime's MultiHeadAttention apart.

What it does: Adds the bias to queries, keys and values, takes the heads apart, puts past keys and
    values in front, and writes the scaled products, the mask, the softmax and the weighted sum.
Why engines need it: It is an operator of onnxruntime's optimiser; other engines do not know it.
Before:
    y, pk, pv = com.microsoft.MultiHeadAttention <num_heads = N> (q, k, v, bias, mask, , pk0, pv0)
After:
    q, k, v = Add (q, bias[:D]), ...               [B, S, N H], then [B, N, S, H]
    pk, pv = Concat (pk0, k), Concat (pv0, v)
    y = MatMul (Softmax (Add (Mul (MatMul (q, Transpose (pk)), 1 / sqrt (H)), mask)), pv)
When it refuses: The rank, dtype or size of an operand is unknown, the heads do not divide the size,
    what is packed has a bias or a past, there is a past without both presents, past and present
    share a buffer, or the mask has another form than lengths, [batch, keys] or [batch, queries,
    keys]: onnxruntime's own kernel for CPUs computes none of these.
Accuracy: Exact up to the order of summation; float16 is computed in float32, as onnxruntime does on
    a CPU. Where a whole row is hidden by the mask, the scores are rounded at the size of
    mask_filter_value on both sides. As in onnxruntime, the last query sees all keys where there are
    more of them than queries and unidirectional is set, and keys and values that come with heads of
    their own have their bias already.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.MultiHeadAttention;
    onnxruntime/contrib_ops/cpu/bert/multihead_attention.cc, multihead_attention_helper.h,
    attention_cpu_base.h, attention_helper.h
"""

from collections.abc import Sequence

import numpy as np

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
    same,
    scale_of,
    size_of_head,
    split_heads,
    total,
    wide,
)
from ._means import like

_NAME = "com.microsoft::MultiHeadAttention"
_BIAS, _MASK, _SCORE_BIAS, _PAST_KEY, _PAST_VALUE = 3, 4, 5, 6, 7


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """[B, S, N H_v], the present keys and values, [B, N, P + L, H], and the scores.

    What is written for it reads the weights, which a look at types must not.
    """
    q, past = node.input(0), node.input(_PAST_KEY)
    if q is None or not q.elem_type:
        return (None,)
    untyped = InferredType(q.elem_type)
    heads = int(node.attr("num_heads", 0))
    shapes = _shapes(node)
    known = [shape for shape in shapes if shape is not None]
    if heads < 1 or len(known) != 3 or len(known[0]) != 3 or not 3 <= len(known[1]) <= 4:
        return (untyped,) * 4
    if len(known[1]) != len(known[2]):
        return (untyped,) * 4
    batch, queries, hidden = known[0]
    apart = len(known[1]) == 4
    head = hidden // heads if isinstance(hidden, int) else None
    last = known[2][-1]
    head_v = last if apart else last // heads if isinstance(last, int) else None
    hidden_v = heads * head_v if isinstance(head_v, int) else None
    keys = total(0 if past is None else dim(past, 2), known[1][2 if apart else 1])
    shapes_out = (
        (batch, queries, hidden_v),
        (batch, heads, keys, head),
        (batch, heads, keys, head_v),
        (batch, heads, queries, keys),
    )
    return tuple(InferredType(q.elem_type, shape) for shape in shapes_out)


def _shapes(node: NodeView) -> list[tuple[int | str | None, ...] | None]:
    """Return the shapes of queries, keys and values; of what is packed as if it were not."""
    given = [node.input(place) for place in range(3)]
    shapes = [None if x is None else x.shape for x in given]
    for place in (0, 1):  # all three in the queries, or keys and values in the keys
        packed = shapes[place]
        if given[place + 1] is None and packed is not None and len(packed) == 5:
            batch, length, heads, _, head = packed
            width = heads * head if isinstance(heads, int) and isinstance(head, int) else None
            shapes[place:] = [(batch, length, width)] * (3 - place)
    return shapes


@rewrite(_NAME, emits=EMITS, infer=infer)
def multi_head_attention_to_matmul(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Write heads, masks and products, see the module."""
    given = _given(node, build)
    q = given[0]
    need_rank_of(q, 3)
    if any(node.input(place) is not None for place in (8, 9)):
        raise Refuse("past and present must not share a buffer; they do")
    past = [node.input(_PAST_KEY), node.input(_PAST_VALUE)]
    if any(past) and not (all(past) and node.output(1) and node.output(2)):
        raise Refuse("a past must have both presents, as onnxruntime wants it")
    heads = heads_of(node)
    head = size_of_head(q.dim(2), heads, "the queries")
    queries, k, v = _operands(node, build, given, heads, head)
    values = heads * (v.dim(3) or head)  # keys and values of rank 4 have one shape
    for place, before in enumerate(past):
        if before is not None:
            need_rank_of(before, 4)
            joined = build.Concat(wide(build, before), v if place else k, axis=2)
            k, v = (k, joined) if place else (joined, v)
    added = _added(node, build, given, k)
    scale = scale_of(node, head)
    result, scores = attend(build, queries, k, v, values=values, scale=scale, added=added)
    results = [result, k, v, scores]
    return tuple(
        like(build, q, results[place]) if old is not None and (old.is_used or not place) else None
        for place, old in enumerate(node.outputs)
    )


def _given(node: NodeView, build: Builder) -> list[Value]:
    """Return queries, keys and values, unpacked.

    All three are packed in the first as [B, S, N, 3, H], or the last two as [B, L, N, 2, H], where
    what follows is not given.
    """
    given = [x for place in range(3) if (x := node.input(place)) is not None]
    count = 4 - len(given)
    if count == 1:
        return given
    packed, heads = given.pop(), heads_of(node)
    need_rank_of(packed, 5)
    head = packed.dim(4)
    if (packed.dim(2), packed.dim(3)) != (heads, count) or not head:
        raise Refuse(
            f"{packed.name} must hold {heads} heads of {count} parts of a known size; it has "
            f"{packed.shape}"
        )
    if node.input(_BIAS) is not None or node.input(_PAST_KEY) is not None:
        raise Refuse("what is packed must have neither a bias nor a past; it has one")
    parts = build.multi("Split", packed, outputs=count, axis=3, split=[1] * count)
    return [*given, *(build.Reshape(part, np.array([0, 0, heads * head])) for part in parts)]


def _operands(
    node: NodeView, build: Builder, inputs: Sequence[Value], heads: int, head: int
) -> tuple[Value, Value, Value]:
    """Return queries, keys and values by heads, the bias added."""
    bias = node.input(_BIAS)
    ranks = [need_rank_of(x, 3, 4) for x in inputs]
    if ranks[1] != ranks[2]:
        raise Refuse(
            "keys and values must have heads alike; one has heads of its own, the other has not"
        )
    head_v = head if ranks[1] == 4 else size_of_head(inputs[2].dim(2), heads, "the values")
    biases: list[Value | None] = [None, None, None]
    if bias is not None:
        widths = [heads * head, heads * head, heads * head_v]
        biases = list(build.multi("Split", wide(build, bias), outputs=3, axis=0, split=widths))
    results: list[Value] = []
    for place, (x, part) in enumerate(zip(inputs, biases, strict=True)):
        value = wide(build, x)
        if ranks[place] == 3:
            biased = value if part is None else build.Add(value, part)
            value = split_heads(build, biased, heads, head if place < 2 else head_v)
        results.append(value)
    return results[0], results[1], results[2]


def _added(node: NodeView, build: Builder, inputs: Sequence[Value], k: Value) -> Value | None:
    """Return what hides keys, and the bias of the scores."""
    q, key, past = inputs[0], inputs[1], node.input(_PAST_KEY)
    mask, bias = node.input(_MASK), node.input(_SCORE_BIAS)
    lengths = Lengths((q, 1), None if past is None else (past, 2), (k, 2))
    new = dim(key, 1 if key.rank == 3 else 2)
    seen = late = None
    if mask is not None:
        keys = new if past is None else dim(k, 2)
        seen = padding(build, mask, dim(q, 0), keys, lengths, starts=False)
    if int(node.attr("unidirectional", 0)) == 1 and q.dim(1) != 1:
        fewer = isinstance(new, int) and new <= (q.dim(1) or 0)
        late = later_keys(build, lengths, last_sees_all=not fewer and not same(new, dim(q, 1)))
    return added_to_scores(build, node, seen, late, None if bias is None else wide(build, bias))
