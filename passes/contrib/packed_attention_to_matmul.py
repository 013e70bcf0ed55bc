"""Take onnxruntime's attention over packed tokens apart, and put padding back.

What it does: Writes com.microsoft's PackedAttention and PackedMultiHeadAttention as attention over
    all tokens at once, in which a token sees those of its own sequence alone, and RestorePadding as
    Gather by the places of the tokens.
Why engines need it: They are operators of onnxruntime's optimiser for CUDA; other engines do not
    know them.
Before:
    y = com.microsoft.PackedAttention <num_heads = N> (x, w, b, offsets, ends)         # x: [T, D]
After:
    q, k, v = Split (MatMul (x, w) + b)                              [T, N H], then [1, N, T, H]
    same = Equal (s, Transpose (s))      s: the number of the sequence of each token, from ends
    y = MatMul (Softmax (Where (same, q k' / sqrt (H), lowest)), v)
When it refuses: A rank, a dtype or a size is unknown, the heads do not divide the size, or there is
    a bias of the scores, which is laid out by what the tokens were before they were packed.
Accuracy: Exact up to the order of summation; float16 is computed in float32.
References: microsoft/onnxruntime docs/ContribOperators.md, the pages of these operators;
    onnxruntime/contrib_ops/cuda/bert/packed_attention.cc, packed_multihead_attention.cc
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Array,
    Builder,
    InferredType,
    NodeView,
    Refuse,
    Value,
    need_rank_of,
    rewrite,
)

from ._attention import (
    EMITS,
    LOWEST,
    attend,
    dim,
    heads_of,
    numbered,
    scale_of,
    size,
    size_of_head,
    split_heads,
    wide,
)
from ._means import like

_ONE, _SEVERAL = "com.microsoft::PackedAttention", "com.microsoft::PackedMultiHeadAttention"
_RESTORE = "com.microsoft::RestorePadding"


def tokens(node: NodeView) -> Sequence[InferredType | None]:
    """[T, N H_v].

    ONNX infers less of what is written: it loses the names of sizes.
    """
    x = node.input(0)
    if x is None or not x.elem_type:
        return (None,)
    count = dim(x, 0) if x.rank else None
    values = _widths(node)[2]
    return (InferredType(x.elem_type, (count, values)),)


def _widths(node: NodeView) -> list[int | None]:
    """Return the sizes of all heads of queries, keys and values."""
    x, key, value = (node.input(place) for place in range(3))
    if node.op == "PackedAttention":
        given = [int(width) for width in node.attr("qkv_hidden_sizes", ())]
        whole = key.dim(1) if key is not None and key.rank == 2 else None
        return [*given] if given else [whole // 3 if whole else None] * 3
    if x is not None and x.rank == 4:
        heads, head = x.dim(1), x.dim(3)
        return [heads * head if heads and head else None] * 3
    return [y.dim(1) if y is not None and y.rank == 2 else None for y in (x, key, value)]


def packed(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Project and attend in float64, a sequence at a time."""
    x, w, b = (np.asarray(operand, np.float64) for operand in inputs[:3])
    widths = [int(n) for n in attributes.get("qkv_hidden_sizes", ())] or [w.shape[1] // 3] * 3
    parts = np.split(x @ w + b, np.cumsum(widths)[:2], axis=1)
    return (_by_sequence(parts, np.asarray(inputs[4]), attributes).astype(_kind(inputs)),)


def packed_by_heads(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Attend in float64, a sequence at a time."""
    x = np.asarray(inputs[0], np.float64)
    if x.ndim == 4:
        parts = [x[:, :, at].reshape(len(x), -1) for at in range(3)]
    else:
        parts = [np.asarray(operand, np.float64) for operand in inputs[:3]]
    if inputs[3] is not None:
        bias = np.split(np.asarray(inputs[3]), np.cumsum([part.shape[1] for part in parts])[:2])
        parts = [part + more for part, more in zip(parts, bias, strict=True)]
    return (_by_sequence(parts, np.asarray(inputs[5]), attributes).astype(_kind(inputs)),)


def _kind(inputs: Sequence[Array | None]) -> Any:
    return np.asarray(inputs[0]).dtype


def _by_sequence(parts: Sequence[Array], ends: Array, attributes: dict[str, Any]) -> Array:
    heads, asked = int(attributes["num_heads"]), float(attributes.get("scale", 0.0))
    result = np.zeros(parts[2].shape)
    for start, end in pairwise(ends):
        q, k, v = (
            part[start:end].reshape(end - start, heads, -1).transpose(1, 0, 2) for part in parts
        )
        scale = asked or 1 / np.sqrt(q.shape[2])
        scores = q @ k.transpose(0, 2, 1) * scale
        weights = np.exp(scores - scores.max(axis=2, keepdims=True, initial=-np.inf))
        mixed = weights / weights.sum(axis=2, keepdims=True) @ v
        result[start:end] = mixed.transpose(1, 0, 2).reshape(end - start, -1)
    return result


@rewrite(_ONE, emits=(EMITS, "ReduceSum"), infer=tokens, evaluate=packed)
def packed_attention_to_matmul(node: NodeView, build: Builder) -> Value:
    """Project, and attend within each sequence, see the module."""
    x = node.need(0)
    need_rank_of(x, 2)
    widths = [_known(width) for width in _widths(node)]
    total = build.MatMul(wide(build, x), wide(build, node.need(1)))
    total = build.Add(total, wide(build, node.need(2)))
    parts = build.multi("Split", total, outputs=3, axis=1, split=widths)
    return _attended(node, build, parts, 4)


@rewrite(_SEVERAL, emits=(EMITS, "ReduceSum"), infer=tokens, evaluate=packed_by_heads)
def packed_multi_head_attention_to_matmul(node: NodeView, build: Builder) -> Value:
    """Attend within each sequence, see the module."""
    x, bias = node.need(0), node.input(3)
    widths = [_known(width) for width in _widths(node)]
    if need_rank_of(x, 2, 4) == 4:
        split = build.multi("Split", wide(build, x), outputs=3, axis=2, split=[1, 1, 1])
        parts = [build.Reshape(part, np.array([0, widths[0]])) for part in split]
    else:
        parts = [wide(build, node.need(place)) for place in range(3)]
    if bias is not None:
        added = build.multi("Split", wide(build, bias), outputs=3, axis=0, split=widths)
        parts = [build.Add(part, more) for part, more in zip(parts, added, strict=True)]
    return _attended(node, build, parts, 5)


def _known(width: int | None) -> int:
    if width is None:
        raise Refuse("the sizes of queries, keys and values must be known")
    return width


def _attended(node: NodeView, build: Builder, parts: Sequence[Value], ends: int) -> Value:
    """Attend to tokens of the same sequence; the ends of these are an input."""
    if node.input(ends + 1) is not None:
        raise Refuse("the scores must have no bias; they have one")
    x, heads = node.need(0), heads_of(node)
    widths = [_known(width) for width in _widths(node)]
    sizes = [size_of_head(width, heads, "heads") for width in widths]
    q, k, v = (
        split_heads(build, build.Unsqueeze(part, axes=[0]), heads, head)
        for part, head in zip(parts, sizes, strict=True)
    )
    bounds = node.need(ends)
    need_rank_of(bounds, 1)
    places = build.Unsqueeze(numbered(build, size(build, x, 0)), axes=[1])
    starts = build.Unsqueeze(build.Cast(bounds, to=TensorProto.INT64), axes=[0])
    begun = build.Cast(build.Not(build.Less(places, starts)), to=TensorProto.FLOAT)
    number = build.ReduceSum(begun, axes=[1], keepdims=1)  # how many sequences begin until here
    away = build.Sub(number, build.Transpose(number, perm=[1, 0]))
    other = build.Cast(away, to=TensorProto.BOOL)
    hidden = build.Where(other, np.array(LOWEST, np.float32), np.array(0, np.float32))
    scale = scale_of(node, sizes[0])
    result, _ = attend(build, q, k, v, values=widths[2], scale=scale, added=hidden)
    return like(build, x, build.Squeeze(result, axes=[0]))


def padded(node: NodeView) -> Sequence[InferredType | None]:
    """[B, S, H]."""
    x, offsets = node.input(0), node.input(1)
    if x is None or not x.elem_type:
        return (None,)
    known = offsets is not None and offsets.rank == 2
    places = offsets.shape if offsets is not None and known else None
    return (InferredType(x.elem_type, (*(places or (None, None)), dim(x, 1) if x.rank else None)),)


def restored(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Put each token where it was, and zeros elsewhere."""
    x, offsets = np.asarray(inputs[0]), np.asarray(inputs[1])
    result = np.zeros((offsets.size, x.shape[1]), x.dtype)
    result[offsets.reshape(-1)[: len(x)]] = x
    return (result.reshape(*offsets.shape, x.shape[1]),)


@rewrite(
    _RESTORE,
    emits=(
        "Cast Concat Equal Gather Mul Range ReduceSum Reshape Shape Slice Squeeze Unsqueeze Where"
    ),
    infer=padded,
    evaluate=restored,
)
def restore_padding_to_gather(node: NodeView, build: Builder) -> Value:
    """Put tokens back: Gather by the places of the tokens, and zeros where there is none."""
    x, offsets = node.need(0), node.need(1)
    need_rank_of(x, 2)
    need_rank_of(offsets, 2)
    width = x.dim(1)
    if not width or not x.elem_type:
        raise Refuse(f"the type and the last size of {x.name} must be known")
    flat = build.Cast(build.Reshape(offsets, np.array([-1])), to=TensorProto.INT64)
    count = size(build, x, 0)
    ends = [count] if isinstance(count, int) else build.Unsqueeze(count, axes=[0])
    taken = build.Slice(flat, starts=[0], ends=ends, axes=[0])  # after them are the paddings
    every = size(build, flat, 0)
    rows = build.Unsqueeze(numbered(build, every), axes=[1])
    there = build.Equal(rows, build.Unsqueeze(taken, axes=[0]))
    flags = build.Cast(there, to=TensorProto.FLOAT)
    numbers = build.Cast(numbered(build, count), to=TensorProto.FLOAT)
    index = build.ReduceSum(build.Mul(flags, numbers), axes=[1], keepdims=0)
    picked = build.Gather(x, build.Cast(index, to=TensorProto.INT64), axis=0)
    some = build.ReduceSum(flags, axes=[1], keepdims=1)
    zero = np.zeros((), x.dtype)
    result = build.Where(build.Cast(some, to=TensorProto.BOOL), picked, zero)
    shape = build.Concat(build.Shape(offsets), np.array([width]), axis=0)
    return build.Reshape(result, shape)
