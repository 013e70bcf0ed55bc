"""Transpose many dimensions in two turns of few.

What it does: Between a Reshape that splits dimensions and one that joins them, transposes twice,
    each time blocks of dimensions that stay side by side then.
Why engines need it: ncnn has no tensor of more than four dimensions beside a batch of 1. Queries,
    keys and values of transformers are split with five, of which none stay side by side.
Before:
    a = Reshape <[9, 9, 3, 2, 8]> (x)
    t = Transpose <perm = [2, 0, 3, 1, 4]> (a)
    y = Reshape <[3, 18, 9, 8]> (t)
After:
    a = Reshape <[81, 3, 16]> (x)
    b = Reshape <[27, 9, 2, 8]> (Transpose <perm = [1, 0, 2]> (a))
    y = Reshape <[3, 18, 9, 8]> (Transpose <perm = [0, 2, 1, 3]> (b))
When it refuses: Sizes are unknown or 0, no two turns of four dimensions make it, somebody else
    reads what lies between, or the first and last tensor have more than four dimensions themselves.
Accuracy: Exact: the same numbers in the same order.
References: https://onnx.ai/onnx/operators/onnx__Transpose.html
"""

from collections.abc import Sequence
from itertools import permutations

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._blocks import joined, turned_between

_MOST = 4
_FAR = 6  # dimensions whose orders are all tried
Turn = tuple[list[int], list[int]]


@rewrite("Reshape", removes="rank:Reshape.* rank:Transpose.*", emits="Reshape Transpose", since=5)
def transpose_in_two_turns(node: NodeView, build: Builder) -> Value:
    """Transpose twice, see the module."""
    first, shape, order, last = turned_between(node, _MOST)
    value = first
    for sizes, perm in _turns(*joined(shape, order)):
        value = build.Transpose(build.Reshape(value, np.array(sizes, np.int64)), perm=perm)
    return build.Reshape(value, np.array(last, np.int64))


def _turns(sizes: Sequence[int], order: Sequence[int]) -> tuple[Turn, Turn]:
    """Return two transpositions of few dimensions that do together what one does.

    Raises:
        Refuse: There are none.
    """
    found: list[tuple[Turn, Turn]] = []
    if _MOST < len(sizes) <= _FAR:
        for start in permutations(range(len(sizes))):
            turned = [sizes[axis] for axis in start]
            rest = [start.index(axis) for axis in order]
            pair = joined(sizes, start), joined(turned, rest)
            if max(len(blocks) for blocks, _ in pair) <= _MOST:
                found.append(pair)
    if not found:
        raise Refuse(f"two turns of {_MOST} dimensions must make it; of {list(order)} none do")
    return min(found, key=lambda pair: sum(len(blocks) for blocks, _ in pair))
