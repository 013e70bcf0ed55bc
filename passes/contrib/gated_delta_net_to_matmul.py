"""Take GatedDeltaNet apart.

What it does: Writes the recurrence of the state out, a few nodes for each token. Where the tokens
    of several sequences are packed, each token changes the state of its own sequence alone.
Why engines need it: It is an operator of onnxruntime 1.32 for language models; other engines do not
    know it.
Before:
    y, s = com.microsoft.GatedDeltaNet (q, k, v, , g, b, s0)        # q: [T, N, d], s0: [B, M, e, d]
After:
    for every token, of one head:
    s = s exp (g)
    s = s + b (v - s k) k'
    y = scale (s q)
When it refuses: A rank, a dtype or a size is unknown; there are more than 64 tokens; query, key and
    value come packed in one; updates of the state are asked for; an activation is none of the page,
    or that of a decay that the rule has not.
Accuracy: Exact up to the order of summation; float16 and bfloat16 are computed in float32.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.GatedDeltaNet; the numbers
    were held to the kernel of onnxruntime 1.32
"""

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct
from onnx import TensorProto

from graphfix.authoring import Builder, InferredType, NodeView, Refuse, Value, rewrite

from ._means import like, wide
from ._typing import need_float

_NAME = "com.microsoft::GatedDeltaNet"
_BOUNDS, _DECAY, _RATE, _STATE, _SLOPE, _BIAS = range(3, 9)
_MOST = 64  # tokens that are written out
# Below the root of the length of a key, and where the gates are Kimi's: measured with keys of 1e-8
# to 1e-2 on the kernel of onnxruntime 1.32.
_SMALL, _SMALL_OF_KIMI = 1e-12, 1e-6
_KIMI = ("sigmoid", "kda")
_LOWER = -5.0
_RULES = {"linear": (), "gated": (_DECAY,), "delta": (_RATE,), "gated_delta": (_DECAY, _RATE)}


class _Sizes(Struct, frozen=True):
    """Of one call.

    Attributes:
        front: How many sequences and tokens a tensor of tokens has: 1 and all where the tokens of
            the sequences follow one another, with their bounds next to them.
        heads: Heads of queries and keys.
        group: Heads of values for each of these.
        key: Size of a head of queries and keys.
        value: Size of a head of values.
    """

    front: tuple[int, int]
    heads: int
    group: int
    key: int
    value: int


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """The tokens, [heads, size of values] for each; the states.

    Where it cannot be written, what comes after it is judged all the same.
    """
    q, v, state = node.input(0), node.input(2), node.input(_STATE)
    if q is None or not q.elem_type:
        return (None,)
    shape = None if v is None else v.shape
    sizes = None if state is None else state.shape
    if state is None and v is not None and v.shape is not None and q.shape is not None:
        bounds = node.input(_BOUNDS)
        count = bounds.dim(0) if bounds is not None and bounds.rank == 1 else None
        batch = count - 1 if count else None
        sizes = (batch, v.shape[-2], v.shape[-1], q.shape[-1]) if len(v.shape) > 2 else None
    return (InferredType(q.elem_type, shape), InferredType(TensorProto.FLOAT, sizes))


@rewrite(
    _NAME,
    emits="Add And Cast Concat Div Exp Gather Less MatMul Mul Neg ReduceSum Reshape Sigmoid Slice "
    "Softplus Split Sqrt Sub Where",
    infer=infer,
)
def gated_delta_net_to_matmul(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Write the recurrence, see the module."""
    sizes, rule = _need_sizes(node), _need_rule(node)
    heads = sizes.heads * sizes.group
    q, k, v = (wide(build, node.need(place)) for place in range(3))
    if int(node.attr("qk_l2_norm", 0)):
        kimi = str(node.attr("gate_activation", "none")) in _KIMI
        small = _SMALL_OF_KIMI if kimi else _SMALL
        q, k = _unit(build, q, small), _unit(build, k, small)
    scale = float(node.attr("scale", 0.0)) or float(1 / np.sqrt(np.float32(sizes.key)))
    tokens = {0: _shared(build, build.Mul(q, scale), sizes), 1: _shared(build, k, sizes), 2: v}
    if _DECAY in rule:
        tokens[_DECAY] = _decay(node, build, heads)
    if _RATE in rule:
        tokens[_RATE] = _rate(node, build)
    apart = {place: _by_token(build, value, sizes) for place, value in tokens.items()}
    state, own = _first(node, build, sizes), _own(node, build)
    results: list[Value] = []
    for at in range(sizes.front[1]):
        here = {place: values[at] for place, values in apart.items()}
        new = _next(build, state, here, sizes)
        column = build.Reshape(here[0], np.array([0, heads, sizes.key, 1]))
        result = build.MatMul(new, column)
        if own is None:
            state = new
        else:
            mine = own(at)
            state = build.Where(mine, new, state)
            result = build.Where(mine, result, np.array(0, np.float32))
            result = build.ReduceSum(result, axes=[0], keepdims=1)
        results.append(build.Reshape(result, np.array([0, 1, heads, sizes.value])))
    joined = results[0] if len(results) == 1 else build.Concat(*results, axis=1)
    x = node.need(0)
    if x.rank == 3:
        joined = build.Reshape(joined, np.array([-1, heads, sizes.value]))
    return (like(build, x, joined), state)[: len(node.outputs)]


def _next(build: Builder, state: Value, here: dict[int, Value], sizes: _Sizes) -> Value:
    """Return the state after a token: [B, heads, size of values, size of keys]."""
    heads = sizes.heads * sizes.group
    key = build.Reshape(here[1], np.array([0, heads, 1, sizes.key]))
    new = build.Reshape(here[2], np.array([0, heads, sizes.value, 1]))
    if _DECAY in here:
        state = build.Mul(state, build.Reshape(here[_DECAY], np.array([0, heads, 1, -1])))
    if _RATE in here:
        known = build.MatMul(state, build.Reshape(here[1], np.array([0, heads, sizes.key, 1])))
        rate = build.Reshape(here[_RATE], np.array([0, heads, 1, 1]))
        new = build.Mul(build.Sub(new, known), rate)
    return build.Add(state, build.Mul(new, key))


def _unit(build: Builder, x: Value, small: float) -> Value:
    """Return every head divided by its length."""
    total = build.ReduceSum(build.Mul(x, x), axes=[(x.rank or 0) - 1], keepdims=1)
    return build.Div(x, build.Sqrt(build.Add(total, small)))


def _shared(build: Builder, x: Value, sizes: _Sizes) -> Value:
    """Return a head of queries or keys for each head of values."""
    if sizes.group == 1:
        return x
    places = np.repeat(np.arange(sizes.heads, dtype=np.int64), sizes.group)
    return build.Gather(x, build.constant(places), axis=(x.rank or 0) - 2)


def _decay(node: NodeView, build: Builder, heads: int) -> Value:
    """Return what the state is multiplied with, [..., heads] or [..., heads, size of keys]."""
    given = node.need(_DECAY)
    x, name = wide(build, given), str(node.attr("gate_activation", "none"))
    if name == "none":
        return build.Exp(x)
    slope, bias = node.input(_SLOPE), node.input(_BIAS)
    if slope is None or bias is None:
        raise Refuse(f"the activation {name} must have its slope and its bias; one is not given")
    by_key = given.rank == node.need(2).rank
    steep = build.Exp(slope)
    if by_key:
        steep = build.Reshape(steep, np.array([heads, 1]))
        bias = build.Reshape(bias, np.array([heads, -1]))
    x = build.Add(x, bias)
    if name in ("softplus", "qwen"):
        return build.Exp(build.Mul(build.Neg(steep), build.Softplus(x)))
    if name not in _KIMI:
        raise Refuse(f"the activation must be none, softplus or sigmoid; it is {name}")
    lower = float(node.attr("gate_lower_bound", _LOWER))
    return build.Exp(build.Mul(build.Sigmoid(build.Mul(steep, x)), lower))


def _rate(node: NodeView, build: Builder) -> Value:
    x, name = wide(build, node.need(_RATE)), str(node.attr("beta_activation", "none"))
    if name not in ("none", "sigmoid"):
        raise Refuse(f"the activation of the rate must be none or sigmoid; it is {name}")
    return x if name == "none" else build.Sigmoid(x)


def _by_token(build: Builder, x: Value, sizes: _Sizes) -> Sequence[Value]:
    """Return a tensor of tokens as [B, 1, ...] for each token."""
    count = sizes.front[1]
    data = build.Reshape(x, np.array([*sizes.front, sizes.heads * sizes.group, -1]))
    return build.multi("Split", data, outputs=count, axis=1, split=[1] * count)


def _first(node: NodeView, build: Builder, sizes: _Sizes) -> Value:
    """Return the state before the first token."""
    state = node.input(_STATE)
    if state is not None:
        return state
    bounds = node.input(_BOUNDS)
    count = bounds.dim(0) if bounds is not None and bounds.rank == 1 else None
    if not count:
        raise Refuse("the first state or the number of sequences must be given; it is not")
    shape = (count - 1, sizes.heads * sizes.group, sizes.value, sizes.key)
    return build.constant(np.zeros(shape, np.float32))


def _own(node: NodeView, build: Builder) -> Callable[[int], Value] | None:
    """Return what says whose a token is, [B, 1, 1, 1]; None where each sequence has its own."""
    bounds = node.input(_BOUNDS)
    if bounds is None:
        return None
    places = build.Reshape(build.Cast(bounds, to=TensorProto.FLOAT), np.array([-1, 1, 1, 1]))
    begins = build.Slice(places, starts=[0], ends=[-1], axes=[0])
    ends = build.Slice(places, starts=[1], ends=[np.iinfo(np.int64).max], axes=[0])

    def mine(at: int) -> Value:
        between = np.array(at + 0.5, np.float32)
        return build.And(build.Less(begins, between), build.Less(between, ends))

    return mine


def _need_rule(node: NodeView) -> tuple[int, ...]:
    """Return which operands the rule reads.

    Raises:
        Refuse: It is none of the page, lacks one, or updates of the state are asked for.
    """
    rule = str(node.attr("update_rule", "gated_delta"))
    if rule not in _RULES or int(node.attr("state_update_capacity", 0)):
        raise Refuse(f"the rule must be {', '.join(_RULES)}, without updates; it is not")
    if any(node.input(place) is None for place in _RULES[rule]):
        raise Refuse(f"the rule {rule} must have its decay and its rate; one is not given")
    if _DECAY not in _RULES[rule] and str(node.attr("gate_activation", "none")) != "none":
        raise Refuse(f"the rule {rule} has no decay, and must have no gate; it has one")
    return _RULES[rule]


def _need_sizes(node: NodeView) -> _Sizes:
    """Return the sizes.

    Raises:
        Refuse: One is unknown or does not fit, or there are too many tokens.
    """
    q, k, v = node.need(0), node.input(1), node.input(2)
    need_float(q)
    if k is None or v is None or q.rank not in (3, 4) or v.rank != q.rank:
        raise Refuse("query, key and value must be given by heads; they are packed")
    heads, key, values, value = q.dim(-2), q.dim(-1), v.dim(-2), v.dim(-1)
    if not heads or not key or not values or not value or values % heads or k.dim(-2) != heads:
        raise Refuse(
            "the heads must be known, as many of keys as of queries, and those of values a "
            "multiple; they are not"
        )
    front = _front(node, q)
    if not 0 < front[1] <= _MOST:
        raise Refuse(
            f"the number of tokens must be known and at most {_MOST}; it is "
            f"{front[1] or 'unknown'}: export the step of one token"
        )
    return _Sizes(front, heads, values // heads, key, value)


def _front(node: NodeView, q: Value) -> tuple[int, int]:
    """Return how many sequences and tokens a tensor has, 0 for what is as in q or not known."""
    state, all_tokens = node.input(_STATE), q.dim(0) or 0
    if node.input(_BOUNDS) is not None:
        return (1, all_tokens if q.rank == 3 else 0)
    if state is None:
        raise Refuse("the first state must be given where no bounds are; it is not")
    if q.rank == 4:
        return (0, q.dim(1) or 0)
    batch = state.dim(0) if state.rank == 4 else None
    return (batch or 0, all_tokens // batch if batch else 0)
