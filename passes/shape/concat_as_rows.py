"""Join tensors as rows of a matrix each, along the last of two axes.

What it does: Makes a matrix of each tensor by a Reshape, with the axes before the one of the Concat
    as its rows, joins these along the last axis, and gives the result its shape by another Reshape.
Why engines need it: onnx2tf tries along which axis tensors of one shape are to be joined, from the
    last one on, and takes the first whose result is the right one in another order of its axes: of
    several axes of size 1 that is the last. The last of two axes is tried first. Of three and more
    tensors it also confuses the axes of one whose sizes after the first are equal; a Reshape of it
    is right.
Before: y = Concat <axis = 0> (a, b)                   a, b: [1, 1, 5]
After:
    r = Reshape (a, {1, -1})
    s = Reshape (b, {1, -1})
    y = Reshape (Concat <axis = 1> (r, s), {2, 1, 5})
When it refuses: The rank or a size before the axis is unknown, or two sizes of the result are, or
    one is 0, or the Concat goes along the last of two axes as it is.
Accuracy: Exact: the same values in the same order.
References: https://onnx.ai/onnx/operators/onnx__Concat.html; onnx2tf 1.29.24, ops/Concat.py;
    measured on it: graphfix/engines/tflite/facts/asked.json, joined-as-rows and
    joined-to-equal-sizes-as-rows
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, rewrite

_MATRIX = 2  # the rank


@rewrite(
    "Concat", removes="form:Concat.equal-axes", emits="Concat Reshape", since=5, claims="nan inf"
)
def concat_as_rows(node: NodeView, build: Builder) -> Value:
    """Join rows, see the module."""
    given = [node.need(place) for place in range(len(node.inputs))]
    rank = need_rank(given[0])
    axis = int(node.attr("axis", 0)) % rank
    if axis == 1 and rank == _MATRIX:
        raise Refuse("the axis must not be the last of two; it is 1")
    sizes = [[value.dim(place) for value in given] for place in range(rank)]
    rows = [_known(each) for each in sizes[:axis]]
    count = prod(size for size in rows if size is not None)
    if None in rows or not count:
        raise Refuse(f"the sizes before axis {axis} must be known, and not 0")
    joined = [size if isinstance(size, int) else None for size in sizes[axis]]
    whole = None if None in joined else sum(size for size in joined if size is not None)
    result = [*rows, whole, *(_known(each) for each in sizes[axis + 1 :])]
    if 0 in result or result.count(None) > 1:
        raise Refuse("all sizes of the result but one must be known, and none be 0")
    matrices = [build.Reshape(value, np.array([count, -1], np.int64)) for value in given]
    shape = np.array([-1 if size is None else size for size in result], np.int64)
    return build.Reshape(build.Concat(*matrices, axis=1), shape)


def _known(sizes: Sequence[int | str | None]) -> int | None:
    """Return the size that tensors have along an axis, as far as one of them says it."""
    return next((size for size in sizes if isinstance(size, int)), None)
