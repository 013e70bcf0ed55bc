"""Take LinearAttention apart.

What it does: Writes the recurrence of the state out, a few nodes for each token. Where nothing
    decays and nothing is subtracted, the tokens are computed at once, whatever their number.
Why engines need it: It is an operator of onnxruntime for language models; other engines do not know
    it.
Before:
    y, s = com.microsoft.LinearAttention
        <q_num_heads = N, kv_num_heads = N, update_rule = "gated_delta"> (q, k, v, s0, g, b)
After:
    for every token t, of one head:
    s = s exp (g)
    s = s + k' (b (v - k s))
    y = (q s) scale
When it refuses: A rank, a dtype or a size is unknown; the tokens are more than 64 or their number
    is not known and there is a decay or a rate; there is a window of states; there are more heads
    of keys than of queries, or not a multiple.
Accuracy: Exact up to the order of summation; float16 is computed in float32.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.LinearAttention; the
    numbers were held to the kernel of onnxruntime 1.31
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from graphfix.authoring import Builder, InferredType, NodeView, Refuse, Value, need_rank_of, rewrite

from ._attention import Lengths, dim, later_keys, size_of_head, split_heads
from ._means import like, wide
from ._typing import need_float

_NAME = "com.microsoft::LinearAttention"
_STATE, _DECAY, _RATE = 3, 4, 5
_MOST = 64  # tokens that are written out
_RULES = {"linear": (), "gated": (_DECAY,), "delta": (_RATE,), "gated_delta": (_DECAY, _RATE)}


class _Sizes(Struct, frozen=True):
    """Heads of keys, queries for each, and the sizes of a head of keys and of values."""

    heads: int
    group: int
    key: int
    value: int


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """[B, T, N d_v], and the state, [B, N, d_k, d_v].

    Where it cannot be written, what comes after it is judged all the same.
    """
    q, v = node.input(0), node.input(2)
    if q is None or not q.elem_type:
        return (None,)
    heads, queries = int(node.attr("kv_num_heads", 0)), int(node.attr("q_num_heads", 0))
    if q.rank != 3 or v is None or v.rank != 3 or heads < 1 or queries < 1:
        return (InferredType(q.elem_type),) * 2
    width, values = q.dim(2), v.dim(2)
    head = values // heads if values else None
    out = (dim(q, 0), dim(q, 1), head * max(heads, queries) if head else None)
    state = (dim(q, 0), heads, width // queries if width else None, head)
    return (InferredType(q.elem_type, out), InferredType(q.elem_type, state))


@rewrite(
    _NAME,
    emits="Add Cast Concat Exp Less MatMul Mul Range Reshape Shape Slice Split Squeeze Sub "
    "Transpose Unsqueeze Where",
    infer=infer,
)
def linear_attention_to_matmul(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Write the recurrence, see the module."""
    q = node.need(0)
    need_float(q)
    sizes = _sizes(node)
    rule = str(node.attr("update_rule", "gated_delta"))
    if rule not in _RULES or int(node.attr("state_window", 0)):
        raise Refuse(f"the rule must be {', '.join(_RULES)}, without a window of states; it is not")
    for place in _RULES[rule]:
        if node.input(place) is None:
            raise Refuse(f"the rule {rule} must have its decay and its rate; one is not given")
    scale = float(node.attr("scale", 0.0)) or float(1 / np.sqrt(np.float32(sizes.key)))
    at_once = rule == "linear" and sizes.group == 1
    compute = _at_once if at_once else _by_token
    result, state = compute(node, build, sizes)
    results = (like(build, q, build.Mul(result, scale)), like(build, q, state))
    return results[: len(node.outputs)]


def _sizes(node: NodeView) -> _Sizes:
    heads, queries = int(node.attr("kv_num_heads", 0)), int(node.attr("q_num_heads", 0))
    for place in range(3):
        need_rank_of(node.need(place), 3)
    if heads < 1 or queries < heads or queries % heads:
        raise Refuse(
            f"the heads of queries must be a multiple of those of keys; they are {queries} and "
            f"{heads}"
        )
    key = size_of_head(node.need(1).dim(2), heads, "the keys")
    value = size_of_head(node.need(2).dim(2), heads, "the values")
    return _Sizes(heads, queries // heads, key, value)


def _at_once(node: NodeView, build: Builder, sizes: _Sizes) -> tuple[Value, Value]:
    """Sum over the tokens until each at once: products of queries and keys without later ones."""
    heads = [sizes.key, sizes.key, sizes.value]
    q, k, v = (
        split_heads(build, wide(build, node.need(at)), sizes.heads, head)
        for at, head in enumerate(heads)
    )
    turned = build.Transpose(k, perm=[0, 1, 3, 2])
    lengths = Lengths((node.need(0), 1), None, (node.need(1), 1))
    late = later_keys(build, lengths, last_sees_all=False)
    scores = build.Where(late, np.array(0, np.float32), build.MatMul(q, turned))
    result, state = build.MatMul(scores, v), build.MatMul(turned, v)
    past = node.input(_STATE)
    if past is not None:
        before = wide(build, past)
        result = build.Add(result, build.MatMul(q, before))
        state = build.Add(before, state)
    flat = np.array([0, 0, sizes.heads * sizes.value])
    return build.Reshape(build.Transpose(result, perm=[0, 2, 1, 3]), flat), state


def _by_token(node: NodeView, build: Builder, sizes: _Sizes) -> tuple[Value, Value]:
    """Write the recurrence token by token."""
    count = node.need(0).dim(1)
    if not count or count > _MOST:
        raise Refuse(
            f"the number of tokens must be known and at most {_MOST} where the state decays or is "
            f"corrected; it is {count or 'unknown'}: export the step of one token"
        )
    rule = _RULES[str(node.attr("update_rule", "gated_delta"))]
    tokens = {at: _tokens(build, node.need(at), count) for at in (0, 1, 2, *rule)}
    past, heads = node.input(_STATE), sizes.heads
    state = None if past is None else wide(build, past)
    results: list[Value] = []
    for at in range(count):
        k = tokens[1][at]
        new = build.Reshape(tokens[2][at], np.array([0, heads, 1, sizes.value]))
        if _DECAY in rule and state is not None:
            each = (node.need(_DECAY).dim(2) or 0) // heads
            shape = np.array([0, heads, each, 1])
            state = build.Mul(state, build.Exp(build.Reshape(tokens[_DECAY][at], shape)))
        if _RATE in rule:
            if state is not None:
                row = build.Reshape(k, np.array([0, heads, 1, sizes.key]))
                new = build.Sub(new, build.MatMul(row, state))
            rates = node.need(_RATE).dim(2) or heads
            new = build.Mul(new, build.Reshape(tokens[_RATE][at], np.array([0, rates, 1, 1])))
        product = build.Mul(build.Reshape(k, np.array([0, heads, sizes.key, 1])), new)
        state = product if state is None else build.Add(state, product)
        q = build.Reshape(tokens[0][at], np.array([0, heads, sizes.group, sizes.key]))
        flat = np.array([0, 1, heads * sizes.group * sizes.value])
        results.append(build.Reshape(build.MatMul(q, state), flat))
    assert state is not None  # there is a token
    return (results[0] if count == 1 else build.Concat(*results, axis=1)), state


def _tokens(build: Builder, x: Value, count: int) -> Sequence[Value]:
    data = wide(build, x)
    if x.rank != 3:
        raise Refuse(f"{x.name} must have three dimensions; it has {x.rank or 'unknown'}")
    return build.multi("Split", data, outputs=count, axis=1, split=[1] * count)
