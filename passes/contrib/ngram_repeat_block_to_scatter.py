"""Take NGramRepeatBlock apart.

What it does: Compares the last tokens with every earlier run of as many, and puts -inf into the
    score of the token that came after each run that is the same.
Why engines need it: It is an operator of onnxruntime for generation; other engines do not know it.
Before: y = com.microsoft.NGramRepeatBlock <ngram_size = 3> (ids, scores)      # [B, L], [B, V]
After:
    same = And (Equal (ids[:, :-2], ids[:, -2:-1]), Equal (ids[:, 1:-1], ids[:, -1:]))
    to = Where (same, ids[:, 2:], V)                        # column V takes what is not the same
    wide = Concat (scores, scores[:, :1])
    y = ScatterElements <axis = 1> (wide, to, Where (same, -inf, 0))[:, :V]
When it refuses: A rank or the dtype of the scores is unknown, or a run has no token.
Accuracy: Exact: nothing is computed. Two equal runs write the same number.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.NGramRepeatBlock; the
    numbers were held to the kernel of onnxruntime 1.31
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank_of, rewrite

from ._attention import size

_NAME = "com.microsoft::NGramRepeatBlock"
_END = np.iinfo(np.int64).max


@rewrite(
    _NAME, emits="And Concat Equal Identity ScatterElements Shape Slice Squeeze Unsqueeze Where"
)
def ngram_repeat_block_to_scatter(node: NodeView, build: Builder) -> Value:
    """Compare runs and scatter, see the module."""
    ids, scores, length = node.need(0), node.need(1), int(node.attr("ngram_size", 0))
    need_rank_of(ids, 2)
    need_rank_of(scores, 2)
    if length < 2 or not scores.elem_type:
        raise Refuse(f"ngram_size must be at least 2 and the scores typed; it is {length}")
    known = ids.dim(1)
    if known is not None and known < length:
        return build.Identity(scores)  # nothing can repeat
    before = length - 1  # tokens that have to be the same

    def cut(x: Value, start: int, end: int) -> Value:
        return build.Slice(x, starts=[start], ends=[end], axes=[1])

    same: Value | None = None
    for at in range(before):
        last = cut(ids, at - before, at - before + 1 or _END)
        equal = build.Equal(cut(ids, at, at - before), last)
        same = equal if same is None else build.And(same, equal)
    assert same is not None  # a run has a token
    words = size(build, scores, 1)
    there = np.int64(words) if isinstance(words, int) else words
    to = build.Where(same, cut(ids, before, _END), there)
    zero, lowest = np.zeros((), scores.dtype), np.array(-np.inf, scores.dtype)
    spare = cut(scores, 0, 1)  # a column more, whose numbers do not count
    blocked = build.ScatterElements(
        build.Concat(scores, spare, axis=1), to, build.Where(same, lowest, zero), axis=1
    )
    ends = [words] if isinstance(words, int) else build.Unsqueeze(words, axes=[0])
    return build.Slice(blocked, starts=[0], ends=ends, axes=[1])
