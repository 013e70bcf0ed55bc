"""Take MoEGroupRouter apart.

What it does: Scores the experts by Sigmoid, takes the best groups by the sum of their best scores
    with TopK, and of these groups the best experts; gives the logarithm of their scores, and a
    number of the caller's elsewhere. Where all scores are asked for, these alone.
Why engines need it: It is an operator of onnxruntime 1.32 for language models; other engines do not
    know it.
Before: y = com.microsoft.MoEGroupRouter <n_group = 4, topk_group = 2, top_k = 3> (logits, bias)
After:
    s = Sigmoid (logits)
    b = Where (group among TopK <2> (sums of the best of each group of s + bias), s + bias, lowest)
    y = Where (expert among TopK <3> (b), Log (Max (s, 1e-20)), router_sentinel)
When it refuses: The dtype, the rank or the number of experts is unknown; the groups are not of one
    size, or there are fewer experts in those that are taken than are to be taken; it is asked for
    all scores and for the choice, or for all scores of several groups.
Accuracy: Exact up to rounding; float16 and bfloat16 are computed in float32. Of equal scores the
    first is taken, as there.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.MoEGroupRouter; the
    numbers were held to the kernel of onnxruntime 1.32
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._attention import LOWEST
from ._means import like, wide
from ._typing import need_float

_NAME = "com.microsoft::MoEGroupRouter"
_LEAST = np.float32(1e-20)  # a score below it counts as this
_SENTINEL = -1e4
_CHOICE, _SCORES, _WEIGHTS = range(3)


@rewrite(
    _NAME,
    emits="Add Cast Equal Greater Log MatMul Max ReduceSum Reshape Sigmoid TopK Transpose "
    "Unsqueeze Where",
)
def moe_group_router_to_topk(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Choose the experts, see the module."""
    x, bias, weights = node.need(0), node.need(1), node.input(2)
    need_float(x)
    experts = bias.dim(0) if bias.rank == 1 else None
    width = experts if weights is None else weights.dim(1) if weights.rank == 2 else None
    if not experts or not width or not x.rank or x.dim(-1) != width:
        raise Refuse(
            f"the number of experts must be known, and {x.name} have a known size for each; they "
            f"are {experts or 'unknown'} and {(x.dim(-1) if x.rank else 0) or 'unknown'}"
        )
    wanted = [node.output(place) is not None for place in (_CHOICE, _SCORES, _WEIGHTS)]
    everything = any(wanted[1:])
    if everything and (wanted != [False, True, True] or _count(node, "n_group", 1) != 1):
        raise Refuse("all scores must be asked for, both, without groups and a choice; not so")
    if weights is not None and not everything:
        raise Refuse("weights must come with all scores; the choice is asked for")
    logits = wide(build, x)
    if x.rank != 2:
        logits = build.Reshape(logits, np.array([-1, width]))
    if weights is not None:
        logits = build.MatMul(logits, build.Transpose(wide(build, weights), perm=[1, 0]))
    scores = build.Sigmoid(logits)
    biased = build.Add(scores, bias)
    if everything:
        node.waive(("top_k",))  # how many of them are chosen, which is not asked for
        return (None, biased, scores)[: len(node.outputs)]
    best = _need_best(node, experts)
    taken = _taken(build, _within_groups(node, build, biased, experts), best, experts)
    logs = build.Log(build.Max(scores, _LEAST))
    rest = np.array(node.attr("router_sentinel", _SENTINEL), np.float32)
    return (like(build, x, build.Where(taken, logs, rest)),)


def _count(node: NodeView, name: str, default: int) -> int:
    return int(node.attr(name, default))


def _need_best(node: NodeView, experts: int) -> int:
    """Return how many experts are taken.

    Raises:
        Refuse: The groups are not of one size, or have too few.
    """
    groups, some = _count(node, "n_group", 1), _count(node, "topk_group", 1)
    best = _count(node, "top_k", 0)
    if groups < 1 or experts % groups or not 0 < some <= groups:
        raise Refuse(f"{experts} experts must be in groups of one size; {groups} groups, {some}")
    if not 0 < best <= some * (experts // groups):
        raise Refuse(f"there must be {best} experts or more in the groups that are taken")
    return best


def _within_groups(node: NodeView, build: Builder, biased: Value, experts: int) -> Value:
    """Return the scores of the groups that are taken, and the lowest number for the others."""
    groups, some = _count(node, "n_group", 1), _count(node, "topk_group", 1)
    if groups == some:
        return biased
    size = experts // groups
    count = min(_count(node, "group_topk", 2), size)
    if count < 1:
        raise Refuse(f"group_topk must be positive; it is {count}")
    split = build.Reshape(biased, np.array([-1, groups, size]))
    best, _ = build.multi("TopK", split, np.array([count]), outputs=2, axis=2)
    taken = _taken(build, build.ReduceSum(best, axes=[2], keepdims=0), some, groups)
    kept = build.Where(build.Unsqueeze(taken, axes=[2]), split, np.array(LOWEST, np.float32))
    return build.Reshape(kept, np.array([-1, experts]))


def _taken(build: Builder, scores: Value, count: int, of: int) -> Value:
    """Return which entries of each row are among its best, of `of`."""
    numbers = np.arange(of, dtype=np.int64)[None, None, :]
    _, index = build.multi("TopK", scores, np.array([count]), outputs=2, axis=1)
    same = build.Equal(build.Unsqueeze(index, axes=[2]), build.constant(numbers))
    flags = build.ReduceSum(build.Cast(same, to=TensorProto.FLOAT), axes=[1], keepdims=0)
    return build.Greater(flags, np.array(0, np.float32))
