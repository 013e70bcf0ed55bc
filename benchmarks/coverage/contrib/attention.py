"""Attention, rotary embeddings and caches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.coverage.contrib.form import Form, const, real, rng, whole

_HEADS = {"num_heads": 4}
# Batches, and the keys of a cache.
_CACHE = (0, (3, 2), (4, 2))
_OUT3 = [np.float32, np.float32, np.float32]


def forms() -> Iterator[Form]:
    """Yield the forms."""
    yield from _attention()
    yield from _quantized()
    yield from _multi_head()
    yield from _grouped()
    yield from _sparse()
    yield from _rotary()
    yield from _biases()
    yield from _recurrent()
    yield from _packed()


def _attention() -> Iterator[Form]:
    x, w, b = real(2, 5, 16), const(real(16, 48, seed=1) / 4), const(real(48, seed=2))
    lengths = np.array([3, 5], np.int32)
    mask = np.array([[1, 1, 1, 0, 0], [1] * 5], np.int32)
    causal = {**_HEADS, "unidirectional": 1}
    yield Form("Attention", "plain", [x, w, b], attributes=_HEADS)
    yield Form("Attention", "open", [x, w, b, mask], [np.float32], _HEADS, (0, 1))
    yield Form("Attention", "causal", [x, w, b], attributes=causal)
    yield Form("Attention", "lengths", [x, w, b, lengths], attributes=_HEADS)
    yield Form("Attention", "mask", [x, w, b, mask], attributes=_HEADS)
    square = np.tril(np.ones((2, 5, 5), np.int32))
    yield Form("Attention", "square-mask", [x, w, b, square], attributes=_HEADS)
    past = real(2, 2, 4, 3, 4, seed=3)
    both = [np.float32, np.float32]
    yield Form("Attention", "past", [x, w, b, None, past], both, causal)
    yield Form("Attention", "present", [x, w, b], both, _HEADS)
    yield Form("Attention", "scale", [x, w, b], attributes={**_HEADS, "scale": 0.3})
    added = real(2, 4, 5, 5, seed=4)
    yield Form("Attention", "bias", [x, w, b, None, None, added], attributes=_HEADS)
    sizes = const(real(16, 40, seed=5) / 4), const(real(40, seed=6))
    parts = {**_HEADS, "qkv_hidden_sizes": [16, 16, 8]}
    yield Form("Attention", "value-size", [x, *sizes], attributes=parts)
    yield Form("Attention", "rotary", [x, w, b], attributes={**_HEADS, "do_rotary": 1}, runs=False)


def _quantized() -> Iterator[Form]:
    x = whole(0, 256, 2, 5, 16, dtype=np.uint8)
    w = const(whole(-127, 128, 16, 48, seed=1, dtype=np.int8))
    b, zero = const(real(48, seed=2)), const(np.uint8(120))
    scale, own = const(np.float32(0.02)), const(np.float32(0.01))
    mask = np.array([[1, 1, 1, 0, 0], [1] * 5], np.int32)
    none = const(np.int8(0))
    base = [x, w, b, scale, own]
    yield Form("QAttention", "plain", base, attributes=_HEADS)
    yield Form("QAttention", "mask", [*base, mask, zero, none], attributes=_HEADS)
    yield Form("QAttention", "open", [*base, mask, zero, none], [np.float32], _HEADS, (0, 1))
    causal = {**_HEADS, "unidirectional": 1}
    columns = const(rng(4).uniform(0.005, 0.02, 48).astype(np.float32))
    by_column = [x, w, b, scale, columns, None, zero, const(np.zeros(48, np.int8))]
    yield Form("QAttention", "columns", by_column, attributes=causal)
    past = real(2, 2, 4, 3, 4, seed=3)
    both = [np.float32, np.float32]
    yield Form("QAttention", "past", [*base, None, zero, none, past], both, causal)


def _multi_head() -> Iterator[Form]:
    q, k, v = (real(2, length, 16, seed=length) for length in (3, 5, 5))
    v = real(2, 5, 16, seed=9)
    bias = const(real(48, seed=1))
    keys = np.array([[1, 1, 1, 0, 0], [1] * 5], np.int32)
    op = "MultiHeadAttention"
    yield Form(op, "cross", [q, k, v], attributes=_HEADS)
    yield Form(op, "open", [q, k, v, bias, keys], [np.float32], _HEADS, (0, 1))
    yield Form(op, "bias", [q, k, v, bias], attributes=_HEADS)
    yield Form(op, "mask", [q, k, v, None, keys], attributes=_HEADS)
    yield Form(op, "added", [q, k, v, None, None, real(2, 4, 3, 5, seed=2)], attributes=_HEADS)
    yield Form(op, "causal", [k, k, v], attributes={**_HEADS, "unidirectional": 1})
    heads = [q, real(2, 4, 5, 4, seed=3), real(2, 4, 5, 4, seed=4)]
    yield Form(op, "heads", heads, attributes=_HEADS)
    past = [real(2, 4, 2, 4, seed=5), real(2, 4, 2, 4, seed=6)]
    new = [q, real(2, 3, 16, seed=7), real(2, 3, 16, seed=8)]
    yield Form(op, "past", [*new, None, None, None, *past], _OUT3, _HEADS)
    packed = real(2, 5, 4, 3, 4, seed=5)
    parts = [packed[:, :, :, at].reshape(2, 5, 16) for at in range(3)]
    same = Form(op, "", [q, *parts[1:], None, keys], attributes=_HEADS)
    inputs: list[Any] = [q, packed[:, :, :, 1:].copy(), None, None, keys]
    yield Form(op, "packed-kv", inputs, attributes=_HEADS, same_as=same)
    same = Form(op, "", parts, attributes=_HEADS)
    yield Form(op, "packed-qkv", [packed], attributes=_HEADS, same_as=same)
    yield Form(op, "packed-qkv-open", [packed], [np.float32], _HEADS, (0, 1), same_as=same)
    one = [real(2, 1, 16, seed=at) for at in (1, 2, 3)]
    cache = [real(2, 4, 6, 4, seed=at) for at in (4, 5)]
    length = np.array([4], np.int32)
    shared: dict[str, Any] = {**_HEADS, "past_present_share_buffer": 1}
    inputs = [*one, None, None, *cache, length]
    yield Form("DecoderMaskedMultiHeadAttention", "shared", inputs, _OUT3, shared)
    cross = [one[0], *cache]
    op = "DecoderMaskedMultiHeadAttention"
    yield Form(op, "cross", cross, attributes=_HEADS)
    seen = np.array([[1, 1, 1, 0, 0, 0], [1] * 6], np.int32)
    yield Form(op, "cross-mask", [*cross, seen], attributes=_HEADS)
    wide = [*inputs, None, None, bias]
    yield Form(op, "shared-bias", wide, _OUT3, {**shared, "scale": 0.3})
    yield Form(op, "shared-open", inputs, _OUT3, shared, free=(0,))
    w, b = const(real(16, 48, seed=1)), const(real(48, seed=2))
    inputs = [one[0], w, b, None, real(2, 2, 4, 6, 4), None, length]
    both = [np.float32, np.float32]
    yield Form("DecoderMaskedSelfAttention", "shared", inputs, both, shared)


def _grouped() -> Iterator[Form]:
    op, base = "GroupQueryAttention", {"num_heads": 4, "kv_num_heads": 2}
    head, total = 32, 5
    table = rng(1).uniform(-1, 1, (2, 12, head // 2)).astype(np.float32)
    caches = [const(table[0]), const(table[1])]
    q = real(2, total, 4 * head)
    kv = [real(2, total, 2 * head, seed=at) for at in (1, 2)]
    whole_ = [const(np.full(2, total - 1, np.int32)), const(np.int32(total))]
    none = [None, None]
    prompt = [q, *kv, *none, *whole_]
    yield Form(op, "prompt", prompt, _OUT3, base)
    yield Form(op, "prompt-late", [q, *kv, *none, whole_[0].array, whole_[1].array], _OUT3, base)
    yield Form(
        op, "prompt-open", [q, *kv, *none, whole_[0].array, whole_[1].array], _OUT3, base, (0, 1)
    )
    short = [np.array([2, 4], np.int32), np.int32(total)]
    yield Form(op, "prompt-padded", [q, *kv, *none, short[0], np.asarray(short[1])], _OUT3, base)
    rotary = {**base, "do_rotary": 1}
    yield Form(op, "rotary", [*prompt, *caches], _OUT3, rotary)
    yield Form(
        op, "rotary-interleaved", [*prompt, *caches], _OUT3, {**rotary, "rotary_interleaved": 1}
    )
    half = [const(table[0][:, :8]), const(table[1][:, :8])]
    yield Form(op, "rotary-part", [*prompt, *half], _OUT3, rotary)
    packed = real(2, total, 8 * head, seed=3)
    yield Form(op, "packed", [packed, None, None, *none, *whole_], _OUT3, base)
    yield Form(op, "packed-rotary", [packed, None, None, *none, *whole_, *caches], _OUT3, rotary)
    yield Form(op, "window", prompt, _OUT3, {**base, "local_window_size": 2})
    yield Form(op, "softcap", prompt, _OUT3, {**base, "softcap": 2.0})
    yield Form(op, "smooth", prompt, _OUT3, {**base, "smooth_softmax": 1})
    yield Form(op, "scale", prompt, _OUT3, {**base, "scale": 0.3})
    added = real(2, 4, total, total, seed=4)
    yield Form(op, "added", [*prompt, *none, None, added], _OUT3, base)
    sink = const(real(4, seed=5))
    yield Form(op, "sink", [*prompt, *none, None, None, sink], _OUT3, base)
    yield from _grouped_decoding(op, base, caches)


def _grouped_decoding(op: str, base: dict[str, int], caches: list[Any]) -> Iterator[Form]:
    q, k, v = real(2, 1, 128), real(2, 1, 64, seed=1), real(2, 1, 64, seed=2)
    past = [real(2, 2, 4, 32, seed=at) for at in (3, 4)]
    last = [np.full(2, 4, np.int32), np.array(5, np.int32)]
    rotary = {**base, "do_rotary": 1}
    yield Form(op, "decode", [q, k, v, *past, *last], _OUT3, base)
    yield Form(op, "decode-open", [q, k, v, *past, *last], _OUT3, base, _CACHE)
    yield Form(op, "decode-rotary", [q, k, v, *past, *last, *caches], _OUT3, rotary)
    yield Form(op, "decode-rotary-open", [q, k, v, *past, *last, *caches], _OUT3, rotary, _CACHE)
    fewer = [np.array([2, 4], np.int32), np.array(5, np.int32)]
    yield Form(op, "decode-ragged", [q, k, v, *past, *fewer, *caches], _OUT3, rotary)
    window = {**base, "local_window_size": 2}
    yield Form(op, "decode-window", [q, k, v, *past, *last], _OUT3, window)
    longer = [real(2, 2, 9, 32, seed=at) for at in (3, 4)]
    yield Form(op, "decode-buffer", [q, k, v, *longer, *last], _OUT3, base)
    several = [real(1, 3, 128), real(1, 3, 64, seed=1), real(1, 3, 64, seed=2)]
    one = [p[:1] for p in past]
    more = [np.array([6], np.int32), np.array(7, np.int32)]
    yield Form(op, "continued", [*several, *one, *more, *caches], _OUT3, rotary)


def _sparse() -> Iterator[Form]:
    base = {"num_heads": 4, "kv_num_heads": 2, "sparse_block_size": 16}
    q, k, v = real(1, 5, 64), real(1, 5, 32, seed=1), real(1, 5, 32, seed=2)
    past = [np.zeros((1, 2, 32, 16), np.float32)] * 2
    rows, columns = const(np.array([[0, 1, 3]], np.int32)), const(np.array([[0, 0, 1]], np.int32))
    inputs = [
        q,
        k,
        v,
        *past,
        rows,
        columns,
        const(np.array([5], np.int32)),
        const(np.array([5], np.int32)),
    ]
    yield Form("SparseAttention", "prompt", inputs, _OUT3, base, runs=False)
    for operator in ("DynamicSparseAttention", "SparsePagedAttention", "PagedAttention"):
        heads = {"num_heads": 4, "kv_num_heads": 2}
        yield Form(operator, "plain", [q, k, v, *past], attributes=heads, runs=False)
    modes = {"policy_mode": "qsa", "compress_ratio": 4, "index_topk": 2}
    yield Form("SparseAttentionIndexer", "plain", [q, k], [np.int32], modes, runs=False)
    several = [np.int32, np.int32]
    more = {**modes, "state_capacity": 8}
    yield Form("PackedSparseAttentionIndexer", "plain", [q[0], k[0]], several, more, runs=False)
    ids = whole(0, 9, 3, 4, dtype=np.int32)
    merged = {"policy_mode": "qsa", "max_output_entries": 8}
    yield Form("PackedSparseAttentionIndexerMerge", "plain", [ids], several, merged, runs=False)


def _rotary() -> Iterator[Form]:
    cos, sin = (const(real(12, 4, seed=at)) for at in (1, 2))
    ids = whole(0, 12, 2, 5)
    x3, x4 = real(2, 5, 32), real(2, 4, 5, 8)
    op = "RotaryEmbedding"
    yield Form(op, "rank3", [x3, ids, cos, sin])
    yield Form(op, "rank4", [x4, ids, cos, sin])
    yield Form(op, "open", [x3, ids, cos, sin], free=(0, 1))
    yield Form(op, "offset", [x3, const(np.array([3])), cos, sin])
    yield Form(op, "interleaved", [x3, ids, cos, sin], attributes={"interleaved": 1})
    part = [const(real(12, 2, seed=at)) for at in (1, 2)]
    turned = {"rotary_embedding_dim": 4, "num_heads": 4}
    yield Form(op, "part", [x3, ids, *part], attributes=turned)
    yield Form(op, "packed-batch", [x3, ids, cos, sin], attributes={"is_packed_batching": 1})
    yield Form(op, "scale", [x3, ids, cos, sin], attributes={"scale": 0.5})
    three = whole(0, 12, 3, 2, 5)
    sections = {"mrope_section": [2, 1, 1]}
    yield Form("MRotaryEmbedding", "rank4", [x4, three, cos, sin], attributes=sections)
    heads = [real(2, 3, 5, 4, seed=at, dtype=np.float16) for at in range(4)]
    yield Form("GemmaRotaryEmbedding", "plain", [real(2, 5, 4), *heads], [np.float16, np.float16])


def _biases() -> Iterator[Form]:
    table = const(real(32, 4))
    sizes = [const(np.array([5])), const(np.array([7]))]
    for both in (0, 1):
        attributes = {"max_distance": 128, "is_bidirectional": both}
        yield Form(
            "RelativePositionBias", f"bidirectional{both}", [table, *sizes], attributes=attributes
        )
    late = [np.array([5]), np.array([7])]
    yield Form("RelativePositionBias", "late", [table, *late], attributes={"max_distance": 20})
    query, bias = real(2, 5, 32), const(real(32, seed=1))
    relative = real(1, 4, 5, 5, seed=2)
    gates = [const(real(8, 8, seed=3)), const(real(8, seed=4)), const(real(1, 4, 1, 1, seed=5))]
    inputs = [query, bias, relative, *gates]
    yield Form("GatedRelativePositionBias", "plain", inputs, attributes=_HEADS)
    yield Form("GatedRelativePositionBias", "open", inputs, [np.float32], _HEADS, (0,))


def _recurrent() -> Iterator[Form]:
    q, k, v = (real(2, 5, 16, seed=at) / 4 for at in range(3))
    heads = {"q_num_heads": 2, "kv_num_heads": 2}
    both = [np.float32, np.float32]
    state = np.zeros((2, 2, 8, 8), np.float32)
    linear = {**heads, "update_rule": "linear"}
    yield Form("LinearAttention", "linear", [q, k, v, state], both, linear)
    yield Form("LinearAttention", "linear-open", [q, k, v, state], both, linear, (0, (1, 1)))
    filled, decay = real(2, 2, 8, 8, seed=4), -np.abs(real(2, 5, 2, seed=5))
    rate = np.abs(real(2, 5, 2, seed=6))
    gated = {**heads, "update_rule": "gated", "scale": 0.5}
    yield Form("LinearAttention", "gated", [q, k, v, filled, decay], both, gated)
    each = -np.abs(real(2, 5, 16, seed=5))
    yield Form("LinearAttention", "gated-by-key", [q, k, v, None, each], both, gated)
    delta = {**heads, "update_rule": "delta"}
    yield Form("LinearAttention", "delta", [q, k, v, filled, None, rate], both, delta)
    inputs: list[Any] = [q, k, v, filled, decay, rate]
    yield Form("LinearAttention", "gated-delta", inputs, both, heads)
    grouped = [real(2, 5, 32, seed=7) / 4, *inputs[1:5], rate[:, :, :1].copy()]
    several = {**heads, "q_num_heads": 4}
    yield Form("LinearAttention", "gated-delta-grouped", grouped, both, several, ((0, 0),))
    x = real(2, 8, 5)
    w = const(real(8, 1, 4, seed=1))
    op = "CausalConvWithState"
    yield Form(op, "plain", [x, w], both)
    past, b = real(2, 8, 6, seed=2), const(real(8, seed=3))
    active = {"activation": "silu", "dilation": 2}
    yield Form(op, "state", [x, w, b, past], both, active)
    yield Form(op, "open", [x, w, b, past[:, :, :3].copy()], both, free=(0, (0, 2)))
    last = [x.transpose(0, 2, 1).copy(), w, b, past[:, :, :3].transpose(0, 2, 1).copy()]
    yield Form(op, "channels-last", last, both, {"channels_last": 1})
    lengths = np.array([0, 2, 5], np.int32)
    flat = [real(5, 8), const(real(8, 4, seed=1)), lengths]
    yield Form("VarlenCausalConvWithState", "plain", flat, both, runs=False)
    for operator, count in (("ConvStateReplay", 3), ("GatedDeltaNetStateReplay", 3)):
        parts = [real(8, seed=at) for at in range(count)]
        yield Form(operator, "plain", [*parts, whole(0, 3, 11)], runs=False)
    yield Form(
        "Mamba2Verify", "plain", [real(3, 20), real(8, 3)], both, {"n_groups": 1}, runs=False
    )
    cache = [np.zeros((2, 5, 16), np.float32)] * 2
    flags = [const(np.array(False))] * 4
    weights = [const(real(16, 16, seed=1)), const(real(16, 32, seed=2)), const(real(48, seed=3))]
    inputs = [real(5, 2, 16), real(5, 2, 16), *weights, None, *cache, *flags]
    yield Form("DecoderAttention", "self", inputs, _OUT3, _HEADS, runs=False)
    x, w, b = real(1, 16, 16), const(real(16, 48, seed=1)), const(real(48, seed=2))
    inputs = [x, w, b, real(1, 16, seed=3), w, b, whole(0, 1, 1, 16, dtype=np.int32)]
    yield Form(
        "LongformerAttention", "plain", inputs, attributes={**_HEADS, "window": 4}, runs=False
    )


def _packed() -> Iterator[Form]:
    offsets = np.array([[0, 4, 5, 6], [1, 2, 3, 7]], np.int32)
    counts = np.array([1, 3], np.int32)
    tokens, ends = real(4, 16), np.array([0, 1, 4], np.int32)
    x = real(2, 4, 16)
    outputs = [np.float32, np.int32, np.int32, np.int32]
    yield Form("RemovePadding", "plain", [x, counts], outputs)
    yield Form("RestorePadding", "plain", [tokens, offsets])
    yield Form("RestorePadding", "open", [tokens, offsets], free=(0,))
    w, b = const(real(16, 48, seed=1)), const(real(48, seed=2))
    inputs: list[Any] = [tokens, w, b, offsets, ends]
    yield Form("PackedAttention", "plain", inputs, attributes=_HEADS)
    yield Form("PackedAttention", "open", inputs, free=(0,), attributes=_HEADS)
    sizes = {**_HEADS, "qkv_hidden_sizes": [16, 16, 8], "scale": 0.4}
    some = [tokens, const(real(16, 40, seed=1)), const(real(40, seed=2)), offsets, ends]
    yield Form("PackedAttention", "value-size", some, attributes=sizes)
    parts = [real(4, 16, seed=at) for at in range(3)]
    inputs = [*parts, None, offsets, ends]
    yield Form("PackedMultiHeadAttention", "plain", inputs, attributes=_HEADS)
    yield Form("PackedMultiHeadAttention", "open", inputs, free=(0,), attributes=_HEADS)
    whole_ = [real(4, 4, 3, 4), None, None, b, offsets, ends]
    yield Form("PackedMultiHeadAttention", "packed", whole_, attributes=_HEADS)
