"""Take onnxruntime's GroupQueryAttention apart.

What it does: Cuts packed queries, keys and values apart, turns queries and keys by their positions,
    puts keys and values after those of the cache, and writes the scaled products, the mask (no
    later key, none after a local window), the softmax and the weighted sum. Heads of keys and
    values are shared by groups of heads of queries.
Why engines need it: It is how exporters of language models (ONNX Runtime GenAI, Olive, Optimum)
    write attention; other engines do not know it.
Before:
    y, pk, pv = com.microsoft.GroupQueryAttention <num_heads = N, kv_num_heads = M>
                (q, k, v, past_k, past_v, seqlens_k, total_sequence_length, cos, sin)
After:
    past = seqlens_k + 1 - S, at least 0                   # keys of the cache, by batch
    pk = Gather (Concat (past_k, k), where each of its places comes from)
    s = Mul (MatMul (Reshape (q, [B, M, N / M, S, H]), Transpose (pk)), 1 / sqrt (H))
    y = MatMul (Softmax (Where (place <= past + query, s, lowest)), pv)
When it refuses: A rank, a dtype or the size of a head is unknown; the cache is quantized or slides;
    queries and keys are normalised; keys are looked at that come later (causal = 0); the scores are
    returned; lengths of queries are given; a soft cap is next to a bias of the scores.
Accuracy: Exact up to the order of summation; float16 is computed in float32. What the cache has
    beyond its last key is 0 in the present, as onnxruntime has it where past and present are
    different buffers. A local window has as many keys as it says, that of the query among them, as
    in onnxruntime 1.32; releases before took one more.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.GroupQueryAttention;
    onnxruntime/contrib_ops/cpu/bert/group_query_attention.cc, group_query_attention_helper.h,
    gqa_attention_base.h
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank_of, rewrite

from ._attention import EMITS, LOWEST, Size, numbered, scale_of, size, wide
from ._grouped_heads import PAST, Grouped, grouped, infer
from ._means import like
from ._rotating import turned

_NAME = "com.microsoft::GroupQueryAttention"
_LENGTHS, _TOTAL, _COS, _POSITIONS, _BIAS, _SINK = 5, 6, 7, 9, 10, 11
_LAST = np.array([-1, 1, 1])
_REFUSED = {
    12: "a quantized cache",
    13: "a quantized cache",
    14: "a norm of the queries",
    15: "a norm of the keys",
    16: "lengths of the queries",
}


@rewrite(_NAME, emits=(EMITS, "Div Expand GatherElements Tanh"), infer=infer)
def group_query_attention_to_matmul(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Write heads, cache, mask and products, see the module."""
    _refuse_what_differs(node)
    form, source = grouped(node), node.need(0)
    queries, keys, values = _operands(node, build, form)
    past = _past_lengths(node, build, source)
    near = bool(node.attr("rotary_interleaved", 0))  # of no meaning where nothing is turned
    if int(node.attr("do_rotary", 0)):
        angles = _angles(node, build, past, source)
        some = 2 * (node.need(_COS).dim(1) or 0)
        if not some or some > form.head:
            raise Refuse(f"the cosines must be known and at most for a head; they are for {some}")
        queries, keys = (
            turned(build, x, angles, (some, form.head), interleaved=near) for x in (queries, keys)
        )
    keys, values = (build.Transpose(x, perm=[0, 2, 1, 3]) for x in (keys, values))
    if node.input(PAST[0]) is not None:
        keys, values = _cached(node, build, (keys, values), past)
    result = _attended(node, build, form, (queries, keys, values), past)
    results = [like(build, source, value) for value in (result, keys, values)]
    return tuple(
        None if old is None or (place and not old.is_used) else results[place]
        for place, old in enumerate(node.outputs)
    )


def _refuse_what_differs(node: NodeView) -> None:
    for place, what in _REFUSED.items():
        if node.input(place) is not None:
            raise Refuse(f"there must be no {what.removeprefix('a ')}; there is {what}")
    scores = node.output(3)
    if scores is not None and scores.is_used:
        raise Refuse(
            f"the scores {scores.name} are read by a node or returned, and are not computed here"
        )
    if int(node.attr("causal", 1)) != 1:
        raise Refuse("each query must see no later key; causal is 0")
    if int(node.attr("sliding_window_cache", 0)) or int(node.attr("kv_cache_bit_width", 0)):
        raise Refuse("the cache must hold all keys as they are; it slides or is quantized")
    if (node.input(PAST[0]) is None) != (node.input(PAST[1]) is None):
        raise Refuse("past keys and past values must both be given or none; one is")
    if float(node.attr("softcap", 0.0)) and node.input(_BIAS) is not None:
        raise Refuse("a soft cap must not be next to a bias of the scores; it does")


def _operands(node: NodeView, build: Builder, form: Grouped) -> tuple[Value, Value, Value]:
    """Return queries, keys and values as [B, S, heads, H]."""
    q = wide(build, node.need(0))
    if form.packed:
        counts = [form.heads, form.shared, form.shared]
        apart = build.Reshape(q, np.array([0, 0, sum(counts), form.head]))
        parts = build.multi("Split", apart, outputs=3, axis=2, split=counts)
        return parts[0], parts[1], parts[2]
    found = [build.Reshape(q, np.array([0, 0, form.heads, form.head]))]
    for place in (1, 2):
        x = node.need(place)
        need_rank_of(x, 3)
        if x.dim(2) is not None and x.dim(2) != form.shared * form.head:
            raise Refuse(f"{x.name} must be of {form.shared} heads of {form.head}; it is not")
        parted = build.Reshape(wide(build, x), np.array([0, 0, form.shared, form.head]))
        found.append(parted)
    return found[0], found[1], found[2]


def _past_lengths(node: NodeView, build: Builder, source: Value) -> Value:
    """Return how many keys of the cache there are for each entry of the batch, int64 [B, 1]."""
    if node.input(PAST[0]) is None:
        return build.constant(np.zeros((1, 1), np.int64))
    lengths = build.Cast(node.need(_LENGTHS), to=TensorProto.INT64)
    length = size(build, source, 1)
    before = 1 - length if isinstance(length, int) else build.Sub(np.int64(1), length)
    left = build.Reshape(build.Add(lengths, before), np.array([-1, 1]))
    if length == 1:
        return left
    # A prompt that is shorter than others of its batch has no cache.
    none = build.constant(np.zeros((), np.int64))
    return build.Where(build.Less(left, none), none, left)


def _angles(node: NodeView, build: Builder, past: Value, source: Value) -> tuple[Value, Value]:
    """Return cosines and sines of the positions, [B, S, 1, half]."""
    given = node.input(_POSITIONS)
    if given is None:
        places = build.Unsqueeze(numbered(build, size(build, source, 1)), axes=[0])
        given = build.Add(places, past)
    tables = [node.input(_COS), node.input(_COS + 1)]
    found: list[Value] = []
    for table in tables:
        if table is None:
            raise Refuse("cosines and sines must be given; they are not")
        found.append(build.Unsqueeze(build.Gather(wide(build, table), given, axis=0), axes=[2]))
    return found[0], found[1]


def _cached(
    node: NodeView, build: Builder, new: tuple[Value, Value], past: Value
) -> tuple[Value, Value]:
    """Return the present: the keys of the cache, the new ones after them, and zeros.

    Place j of it comes from the cache while j is below `past`, and then from what is new, which
    is after all P rows of the cache in what is gathered from.
    """
    before = [node.need(place) for place in PAST]
    for cache in before:
        need_rank_of(cache, 4)
    rows, fresh = size(build, before[0], 2), size(build, new[0], 2)
    places = build.Unsqueeze(numbered(build, _present_length(node, build, rows)), axes=[0])
    moved = build.Add(build.Sub(places, past), _number(rows))
    zero = build.constant(np.zeros((), np.int64))
    inside = build.Less(places, build.Add(past, _number(fresh)))
    index = build.Where(build.Less(places, past), places, build.Where(inside, moved, zero))
    found: list[Value] = []
    for cache, x in zip(before, new, strict=True):
        joined = build.Concat(wide(build, cache), x, axis=2)
        if cache.dim(0) == 1:
            picked = build.Gather(joined, build.Reshape(index, np.array([-1])), axis=2)
        else:
            each = np.array([1, cache.dim(1) or x.dim(1), 1, cache.dim(3) or x.dim(3)])
            spread = build.Expand(build.Unsqueeze(index, axes=[1, 3]), each)
            picked = build.GatherElements(joined, spread, axis=2)
        kept = build.Unsqueeze(inside, axes=[1, 3])
        found.append(build.Where(kept, picked, np.zeros((), np.float32)))
    return found[0], found[1]


def _number(count: Size) -> Value | np.int64:
    return np.int64(count) if isinstance(count, int) else count


def _present_length(node: NodeView, build: Builder, rows: Size) -> Size:
    """Return how long the present is: as the longest of the batch, and at least as the cache."""
    shape = np.array([], np.int64)
    given = build.Cast(build.Reshape(node.need(_TOTAL), shape), to=TensorProto.INT64)
    known = build.const(node.need(_TOTAL))
    if known is not None and isinstance(rows, int):
        return max(int(known.reshape(())), rows)
    least = build.constant(np.array(rows)) if isinstance(rows, int) else rows
    return build.Where(build.Less(given, least), least, given)


def _attended(
    node: NodeView,
    build: Builder,
    form: Grouped,
    operands: tuple[Value, Value, Value],
    past: Value,
) -> Value:
    """Return softmax (scale q k') v as [B, S, N H].

    Args:
        node: The node.
        build: The builder.
        form: Its heads.
        operands: Queries [B, S, N, H]; keys and values [B, M, T, H].
        past: How many keys there were, [B, 1].
    """
    queries, keys, values = operands
    if _is_flat(node):
        return _attended_flat(node, build, form, operands, past)
    queries = build.Reshape(queries, np.array([0, 0, form.shared, -1, form.head]))
    queries = build.Transpose(queries, perm=[0, 2, 3, 1, 4])
    turned_keys = build.Unsqueeze(build.Transpose(keys, perm=[0, 1, 3, 2]), axes=[2])
    scores = _scaled(node, build, build.MatMul(queries, turned_keys), form)
    bias = node.input(_BIAS)
    if bias is not None:
        scores = build.Add(scores, _bias(node, build, bias, form))
    hidden = _hidden(node, build, past, (size(build, node.need(0), 1), size(build, keys, 2)))
    hidden = build.Unsqueeze(hidden, axes=[1, 2])
    scores = build.Where(hidden, np.array(LOWEST, np.float32), scores)
    weights = _shares(node, build, scores, form)
    mixed = build.MatMul(weights, build.Unsqueeze(values, axes=[2]))
    flat = build.Transpose(mixed, perm=[0, 3, 1, 2, 4])
    return build.Reshape(flat, np.array([0, 0, form.heads * form.head]))


def _hidden(node: NodeView, build: Builder, past: Value, sizes: tuple[Size, Size]) -> Value:
    """Return what a query does not see, [B, S, T]: later keys, and those before its window."""
    queries, keys = (numbered(build, count) for count in sizes)
    own = build.Unsqueeze(build.Add(build.Unsqueeze(queries, axes=[0]), past), axes=[2])
    places = build.Unsqueeze(keys, axes=[0, 1])
    hidden = build.Less(own, places)
    if sizes[0] != 1:
        # Queries past the end of a shorter prompt see no key after it either.
        last = build.Reshape(build.Cast(node.need(_LENGTHS), to=TensorProto.INT64), _LAST)
        hidden = build.Or(hidden, build.Less(last, places))
    window = int(node.attr("local_window_size", -1))
    if window == 0:
        raise Refuse("local_window_size must not be 0, which leaves no key; it is")
    if window > 0:
        hidden = build.Or(hidden, build.Less(places, build.Sub(own, np.int64(window - 1))))
    return hidden


def _is_flat(node: NodeView) -> bool:
    """Say whether four dimensions are enough: there is one sequence, and nothing per head."""
    plain = node.input(_BIAS) is None and node.input(_SINK) is None
    return node.need(0).dim(0) == 1 and plain and int(node.attr("smooth_softmax", 0)) != 1


def _attended_flat(
    node: NodeView,
    build: Builder,
    form: Grouped,
    operands: tuple[Value, Value, Value],
    past: Value,
) -> Value:
    """Return what `_attended` does for one sequence, with heads of keys in the place of the batch.

    NPUs have no more than four dimensions.
    """
    queries, keys, values = operands
    queries = build.Reshape(
        queries, np.array([-1, form.shared, form.heads // form.shared, form.head])
    )
    queries = build.Transpose(queries, perm=[1, 2, 0, 3])
    scores = build.MatMul(queries, build.Transpose(keys, perm=[1, 0, 3, 2]))
    scores = _scaled(node, build, scores, form)
    hidden = _hidden(node, build, past, (size(build, node.need(0), 1), size(build, keys, 2)))
    hidden = build.Unsqueeze(hidden, axes=[1])
    scores = build.Where(hidden, np.array(LOWEST, np.float32), scores)
    mixed = build.MatMul(build.Softmax(scores, axis=3), build.Transpose(values, perm=[1, 0, 2, 3]))
    flat = build.Transpose(mixed, perm=[2, 0, 1, 3])
    return build.Reshape(flat, np.array([1, -1, form.heads * form.head]))


def _scaled(node: NodeView, build: Builder, scores: Value, form: Grouped) -> Value:
    scores = build.Mul(scores, scale_of(node, form.head))
    cap = float(node.attr("softcap", 0.0))
    return build.Mul(build.Tanh(build.Div(scores, cap)), cap) if cap else scores


def _bias(node: NodeView, build: Builder, bias: Value, form: Grouped) -> Value:
    need_rank_of(bias, 4)
    if node.input(PAST[0]) is not None:
        raise Refuse("a bias of the scores must come without a cache; there is one")
    if bias.dim(1) == 1:
        return build.Unsqueeze(wide(build, bias), axes=[2])
    if bias.dim(1) != form.heads:
        raise Refuse(f"{bias.name} must be for 1 or {form.heads} heads; it is for {bias.dim(1)}")
    rows, columns = bias.dim(2), bias.dim(3)
    if rows is None and columns is None:
        raise Refuse(f"a size of {bias.name} must be known")
    parts = [0, form.shared, form.heads // form.shared, rows or -1, columns or -1]
    return build.Reshape(wide(build, bias), np.array(parts))


def _shares(node: NodeView, build: Builder, scores: Value, form: Grouped) -> Value:
    """Return the softmax; with a further score per head, which has no key, where there is one."""
    sink = node.input(_SINK)
    smooth = int(node.attr("smooth_softmax", 0))
    if sink is None and smooth != 1:
        return build.Softmax(scores, axis=4)
    nothing = build.Mul(build.Slice(scores, starts=[0], ends=[1], axes=[4]), 0.0)
    if sink is not None:
        each = np.array([1, form.shared, form.heads // form.shared, 1, 1])
        nothing = build.Add(nothing, build.Reshape(wide(build, sink), each))
    shares = build.Softmax(build.Concat(scores, nothing, axis=4), axis=4)
    return build.Slice(shares, starts=[0], ends=[-1], axes=[4])
