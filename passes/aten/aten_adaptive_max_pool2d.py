"""Replace adaptive max pooling by pooling with fixed windows and a Gather of their places.

What it does: Handles adaptive_max_pool1d, 2d and 3d. One value per channel becomes GlobalMaxPool,
    windows that divide the input MaxPool. Else each axis by itself: the windows have two or three
    different lengths, so a MaxPool of stride 1 for each length gives all windows that start
    anywhere, and one Gather with constant indices takes those that are wanted. Where the indices of
    the maxima are used, a Gather reads every window in a row, and ArgMax says where in it. Of one
    axis whose size is open the windows are picked by a mask.
Why engines need it: ONNX has no adaptive pooling. PyTorch writes MaxPool itself where the windows
    divide the input, and else an ATen node that engines do not know.
Before: y, i = org.pytorch.aten.adaptive_max_pool2d (x, [7, 7])   # x: float[2, 3, 4, 6], i not used
After:
    a = MaxPool <kernel_shape = [2, 1]> (x)                    # starts 0, 1, 2
    both = Concat <axis = 2> (x, a)                            # windows of 1, then of 2
    r = Gather <axis = 2> (both, [0, 4, 1, 5, 2, 6, 3])
    ...                                                        # the same along axis 3
When it refuses: The output size is computed at run time, one of two or three pooled axes has no
    known size and keeps more than one value or the indices of the maxima are used (of one alone
    below opset 11 or in halves), rank or dtype are unknown, or the type is not floating point.
Accuracy: Exact: every result is one of the inputs. A NaN is the maximum of its window in PyTorch,
    while engines differ in how their MaxPool treats it; infinities keep their place.
References: pytorch/pytorch aten/src/ATen/native/AdaptiveMaxPooling2d.cpp and AdaptivePooling.h
    (windows); https://onnx.ai/onnx/operators/onnx__MaxPool.html;
    https://onnx.ai/onnx/operators/onnx__Gather.html
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, InferredType, NodeView, Refuse, Value, size_of

from ._adaptive import maxima_and_places
from ._arguments import ArrayCall, replacing
from ._axes import SCHEMA, Pooling, batched, boxed, pooled_shape, pooling_of, windows
from ._bags import EMITS, members

NAMES = ("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d")


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """The pooled axes get the output size; the indices have the same shape."""
    elem_type, shape = pooled_shape(node, NAMES)
    return (InferredType(elem_type, shape), InferredType(TensorProto.INT64, shape))


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Take the first maximum of every window by itself; indices count the flattened axes."""
    call = ArrayCall(inputs, attributes, SCHEMA)
    x = call.need("self")
    output = call.entries("output_size") or ()
    first = x.ndim - len(output)
    sizes = [x.shape[first + k] if n is None else int(n) for k, n in enumerate(output)]
    lists = [windows(x.shape[first + k], n) for k, n in enumerate(sizes)]
    values = np.empty((*x.shape[:first], *sizes), dtype=x.dtype)
    indices = np.empty(values.shape, dtype=np.int64)
    shape = tuple(int(n) for n in x.shape[first:])
    numbers: Array = np.arange(math.prod(shape)).reshape(shape)
    every = (slice(None),) * first
    for place in np.ndindex(*sizes):
        box = boxed(lists, place)
        flat = x[(*every, *box)].reshape(*x.shape[:first], -1)
        values[(*every, *place)] = flat.max(axis=-1)
        indices[(*every, *place)] = numbers[box].ravel()[flat.argmax(axis=-1)]
    return values, indices


@replacing(
    NAMES,
    emits=(
        f"{EMITS} Add ArgMax Concat Div Equal GlobalMaxPool MaxPool Mul ReduceMax Reshape Squeeze"
    ),
    infer=infer,
    evaluate=evaluate,
)
def aten_adaptive_max_pool2d(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Pool with fixed windows, see the module."""
    indices = node.output(1)
    pooling = pooling_of(node, NAMES)
    placed = indices is not None and indices.is_used
    size, output = pooling.sizes[0]
    if len(pooling.sizes) == 1 and size is None and output and (placed or output > 1):
        return _masked(build, pooling.x, output)
    if placed:
        known = [pooling.known(position) for position in range(len(pooling.sizes))]
        return maxima_and_places(build, pooling.x, known)
    pooled = batched(build, pooling.x, len(pooling.sizes), lambda x: _pool(build, x, pooling))
    return (pooled, *([None] * (len(node.outputs) - 1)))


def _masked(build: Builder, x: Value, output: int) -> tuple[Value, Value]:
    """Pool the last axis, whose size is open: the maxima, and where they are."""
    rank = x.rank
    if x.type_name not in ("float32", "float64") or build.opset < 11 or rank is None:
        raise Refuse(
            f"the size of the pooled axis of {x.name} must be known below opset 11 and for "
            f"{x.type_name}; it is open"
        )
    size = size_of(x, rank - 1, build)
    numbers = np.arange(output, dtype=np.int64)
    starts = build.Div(build.Mul(build.constant(numbers), size), output)
    ends = build.Div(build.Add(build.Mul(build.constant(numbers + 1), size), output - 1), output)
    inside = members(build, starts, ends, x, rank - 1)
    lowest = build.constant(np.array(-np.inf, x.dtype))
    picked = build.Where(inside, build.Unsqueeze(x, axes=[rank - 1]), lowest)
    best = build.ReduceMax(picked, axes=[rank], keepdims=0)
    place = build.ArgMax(picked, axis=rank, keepdims=0)
    # Where all are the lowest, those of other windows are as large.
    return best, build.Where(build.Equal(best, lowest), starts, place)


def _pool(build: Builder, x: Value, pooling: Pooling) -> Value:
    factors = pooling.factors
    if pooling.is_global and not pooling.is_identity:
        return build.GlobalMaxPool(x)
    if factors is not None and not pooling.is_identity:
        return build.MaxPool(x, kernel_shape=list(factors), strides=list(factors))
    spatial = len(pooling.sizes)
    for position in range(spatial):
        if pooling.keeps(position):
            continue
        if pooling.sizes[position] == (None, 1):
            x = build.ReduceMax(x, axes=[2 + position], keepdims=1)
            continue
        x = _along(build, x, position, spatial, windows(*pooling.known(position)))
    return x


def _along(
    build: Builder, x: Value, position: int, spatial: int, boxes: list[tuple[int, int]]
) -> Value:
    """Pool one axis with windows of any length."""
    lengths = sorted({end - start for start, end in boxes})
    size = boxes[-1][1]
    parts: list[Value] = []
    offsets: dict[int, int] = {}
    total = 0
    for length in lengths:
        kernel = [1] * spatial
        kernel[position] = length
        strides = [1] * spatial
        parts.append(x if length == 1 else build.MaxPool(x, kernel_shape=kernel, strides=strides))
        offsets[length] = total
        total += size - length + 1
    joined = parts[0] if len(parts) == 1 else build.Concat(*parts, axis=2 + position)
    places = [offsets[end - start] + start for start, end in boxes]
    return build.Gather(joined, np.array(places, dtype=np.int64), axis=2 + position)
