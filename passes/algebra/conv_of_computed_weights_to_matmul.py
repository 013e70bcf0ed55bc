"""Convolve with weights that are computed at run time by a matrix product.

What it does: A convolution with constant filters that have a single 1 each lays the points of every
    window out as channels, and a matrix product multiplies them by the weights. A transposed one
    multiplies first and puts the points where they belong afterwards.
Why engines need it: TensorRT takes weights of Conv and ConvTranspose that are initializers only,
    before 8.5.
Before:
    y = Conv <pads = [1, 1, 1, 1]> (x, w, b)           # x: float[N, 3, 8, 8], w: float[5, 3, 3, 3]
After:
    points = Conv <group = 3, pads = [1, 1, 1, 1]> (x, ones[27, 1, 3, 3])
    sums = MatMul (Reshape (w, [1, 1, 5, 27]), Reshape (points, [0, 1, 27, 64]))
    y = Add (Reshape (sums, [0, 5, 8, 8]), Reshape (b, [1, 5, 1, 1]))
When it refuses: The weights are constant, the size of the weights or the number of channels is
    unknown, the filters would have more than 2^20 numbers, or the type is not float32 or float16.
Accuracy: Exact up to the order of summation; where the input holds infinities or NaN, what is added
    as zero times it is NaN.
References: https://onnx.ai/onnx/operators/onnx__Conv.html;
    https://onnx.ai/onnx/operators/onnx__ConvTranspose.html; builtin_op_importers.cpp: Conv and
    ConvTranspose of onnx-tensorrt, release 7.2
"""

from collections.abc import Sequence
from functools import reduce
from math import prod
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Value,
    need_type,
    reshaped,
    reshaping,
    rewrite,
    size_of,
    times,
)

_MOST = 2**20
_ATTRIBUTES = ("auto_pad", "dilations", "output_padding", "output_shape", "pads", "strides")


@rewrite(
    ("Conv", "ConvTranspose"),
    removes="const:Conv.* const:ConvTranspose.*",
    emits=(
        reshaping.EMITS,
        "Add Concat Conv ConvTranspose Gather MatMul Mul Shape Slice Transpose",
    ),
)
def conv_of_computed_weights_to_matmul(node: NodeView, build: Builder) -> Value:
    """Multiply the points of the windows by the weights, see the module."""
    x, weights = node.need(0), node.need(1)
    need_type(x, (TensorProto.FLOAT, TensorProto.FLOAT16))
    if build.const(weights) is not None:
        raise Refuse(f"{weights.name} must be computed at run time; it is a constant")
    rows, columns, *kernel = _known(weights)
    if x.rank != len(kernel) + 2:
        raise Refuse(f"{x.name} must have {len(kernel) + 2} dimensions; it has {x.rank}")
    group = int(node.attr("group", 1))
    given = {name: node.attr(name) for name in _ATTRIBUTES if node.has(name)}
    if node.op == "Conv":
        sums = _convolved(build, x, weights, [rows, columns, *kernel], group, given)
        channels = rows
    else:
        sums = _transposed(build, x, weights, [rows, columns, *kernel], group, given)
        channels = columns * group
    bias = node.input(2)
    if bias is None:
        return sums
    return build.Add(sums, build.Reshape(bias, [1, channels, *[1] * len(kernel)]))


def _known(weights: Value) -> list[int]:
    shape = weights.shape
    if shape is None or len(shape) < 3:
        raise Refuse(f"the shape of {weights.name} must be known; it is not")
    sizes = [size for size in shape if isinstance(size, int) and size > 0]
    if len(sizes) != len(shape):
        raise Refuse(f"the sizes of {weights.name} must be known; one is not")
    return sizes


def _convolved(
    build: Builder,
    x: Value,
    weights: Value,
    sizes: Sequence[int],
    group: int,
    given: dict[str, Any],
) -> Value:
    filters, per_group, *kernel = sizes
    points = build.Conv(
        x,
        _ones(x, per_group * group, kernel),
        group=per_group * group,
        kernel_shape=kernel,
        **given,
    )
    taken = per_group * prod(kernel)
    sums = build.MatMul(
        build.Reshape(weights, [1, group, filters // group, taken]),
        _flat(build, points, group, taken),
    )
    return _spread(build, sums, filters, points)


def _transposed(
    build: Builder,
    x: Value,
    weights: Value,
    sizes: Sequence[int],
    group: int,
    given: dict[str, Any],
) -> Value:
    channels, per_group, *kernel = sizes
    made = per_group * prod(kernel)
    matrix = build.Reshape(weights, [1, group, channels // group, made])
    sums = build.MatMul(
        build.Transpose(matrix, perm=[0, 1, 3, 2]), _flat(build, x, group, channels // group)
    )
    return build.ConvTranspose(
        _spread(build, sums, group * made, x),
        _ones(x, per_group * group, kernel),
        group=per_group * group,
        kernel_shape=kernel,
        **given,
    )


def _ones(x: Value, channels: int, kernel: Sequence[int]) -> np.ndarray[Any, Any]:
    """Return [channels * points, 1, *kernel]: for each channel one filter for each point.

    Raises:
        Refuse: They would be too large.
    """
    points = prod(kernel)
    if channels * points * points > _MOST:
        raise Refuse(
            f"the filters must have at most {_MOST} numbers; they would have "
            f"{channels * points * points}"
        )
    single = np.eye(points, dtype=x.dtype).reshape(points, 1, *kernel)
    return np.tile(single, (channels, *[1] * (len(kernel) + 1)))


def _flat(build: Builder, x: Value, group: int, channels: int) -> Value:
    """Return [batch, group, channels, places]; the batch may be 0, where -1 is ambiguous."""
    assert x.rank is not None
    sizes = [x.dim(axis) for axis in range(2, x.rank)]
    known = [size for size in sizes if size is not None]
    if len(known) == len(sizes) or x.dim(0):
        count = prod(known) if len(known) == len(sizes) else -1
        return build.Reshape(x, [0, group, channels, count])
    places = reduce(
        lambda first, second: times(first, second, build),
        (size_of(x, axis, build) for axis in range(2, x.rank)),
    )
    assert isinstance(places, Value)
    front = build.Slice(build.Shape(x), starts=[0], ends=[1], axes=[0])
    middle = build.constant(np.array([group, channels], np.int64))
    return reshaped(x, build.Concat(front, middle, build.Reshape(places, [1]), axis=0), build)


def _spread(build: Builder, sums: Value, channels: int, like: Value) -> Value:
    """Give [batch, group, channels, places] the batch and the places of `like`."""
    assert like.rank is not None
    sizes = [like.dim(axis) for axis in range(2, like.rank)]
    unknown = sum(size is None for size in sizes)
    if not unknown or (unknown == 1 and like.dim(0)):
        shape = [0, channels, *(-1 if size is None else size for size in sizes)]
        return build.Reshape(sums, shape)
    shape_of = build.Shape(like)
    front = build.Slice(shape_of, starts=[0], ends=[1], axes=[0])
    rest = build.Slice(shape_of, starts=[2], ends=[like.rank], axes=[0])
    middle = build.constant(np.array([channels], np.int64))
    return reshaped(sums, build.Concat(front, middle, rest, axis=0), build)
