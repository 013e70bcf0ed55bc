"""Join tensors as rows of a matrix each, along the last of two axes.

What it does: Makes a matrix of each tensor by a Reshape, with the axes before the one of the Concat
    as its rows, joins these along the last axis, and gives the result its shape by another Reshape.
    A size that the file leaves open is a -1 there, and more than one are computed of the shapes.
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
When it refuses: The rank is unknown or 1, or the Concat goes along the last of two axes as it is.
Accuracy: Exact: the same values in the same order.
References: https://onnx.ai/onnx/operators/onnx__Concat.html; onnx2tf 1.29.24, ops/Concat.py;
    measured on it: graphfix/engines/tflite/facts/asked.json, joined-as-rows,
    joined-to-equal-sizes-as-rows and joined-as-rows-of-open-sizes
"""

from collections.abc import Sequence
from functools import reduce
from math import prod

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, reshaped, rewrite

_MATRIX = 2  # the rank
_ALLOWZERO = 14  # the opset from which Reshape may take a 0 as a size
Sizes = Sequence[int | None]


@rewrite(
    "Concat",
    removes="form:Concat.equal-axes",
    emits="Add Concat Equal Expand Gather Mul Reshape Shape Where",
    since=5,
    claims="nan inf",
)
def concat_as_rows(node: NodeView, build: Builder) -> Value:
    """Join rows, see the module."""
    given = [node.need(place) for place in range(len(node.inputs))]
    rank = need_rank(given[0])
    axis = int(node.attr("axis", 0)) % rank
    if rank < _MATRIX:
        raise Refuse(f"the tensors must have two axes or more; they have {rank}")
    if axis == 1 and rank == _MATRIX:
        raise Refuse("the axis must not be the last of two; it is 1")
    sizes = [_common([value.dim(place) for value in given]) for place in range(rank)]
    matrices: list[Value] = []
    for value in given:
        sizes[axis] = value.dim(axis)
        matrices.append(_matrix(value, sizes, axis, build))
    joined = build.Concat(*matrices, axis=1)
    lengths = [value.dim(axis) for value in given]
    known = [length for length in lengths if length is not None]
    sizes[axis] = sum(known) if len(known) == len(given) else None
    if _is_written(sizes):
        return build.Reshape(joined, _written(sizes))
    parts = [_part(given[0], place, size, build) for place, size in enumerate(sizes)]
    if sizes[axis] is None:
        each = (_part(value, axis, value.dim(axis), build) for value in given)
        parts[axis] = reduce(build.Add, each)
    return _reshaped(joined, parts, build)


def _common(sizes: Sizes) -> int | None:
    """Return the size that tensors have along an axis, as far as one of them says it."""
    return next((size for size in sizes if size is not None), None)


def _matrix(value: Value, sizes: Sizes, axis: int, build: Builder) -> Value:
    """Make the axes before one the rows, and the others the columns."""
    rows, columns = _product(sizes[:axis]), _product(sizes[axis:])
    shape = [rows, None if rows else columns]
    if _is_written(shape):
        return build.Reshape(value, _written(shape))
    parts = [_part(value, place, size, build) for place, size in enumerate(sizes)]
    ends = [reduce(build.Mul, parts[:axis]), reduce(build.Mul, parts[axis:])]
    return _reshaped(value, ends, build)


def _product(sizes: Sizes) -> int | None:
    known = [size for size in sizes if size is not None]
    return prod(known) if len(known) == len(sizes) else None


def _is_written(sizes: Sizes) -> bool:
    """Say whether a Reshape takes sizes as they are, with a -1 for what is not known."""
    return sizes.count(None) < _MATRIX and 0 not in sizes


def _written(sizes: Sizes) -> list[int]:
    return [-1 if size is None else size for size in sizes]


def _part(value: Value, place: int, size: int | None, build: Builder) -> Value:
    """Return the size along an axis as a vector."""
    if size is not None:
        return build.constant(np.array([size], np.int64))
    return build.Gather(build.Shape(value), np.array([place], np.int64), axis=0)


def _reshaped(value: Value, parts: Sequence[Value], build: Builder) -> Value:
    """Give a tensor sizes of which any may turn out 0."""
    sizes = build.Concat(*parts, axis=0)
    if build.opset < _ALLOWZERO:
        return reshaped(value, sizes, build)
    return build.Reshape(value, sizes, allowzero=1)
