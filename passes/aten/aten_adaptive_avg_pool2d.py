"""Replace adaptive average pooling by a pooling of fixed windows or by constant products.

What it does: Handles adaptive_avg_pool1d, 2d and 3d. One value per channel becomes
    GlobalAveragePool, windows that divide the input AveragePool, and everything else one product
    with a constant matrix along each axis (ReduceMean along an axis of unknown size that keeps one
    value, a matrix that is made at run time where it keeps more): the mean over a box is the mean
    over its rows of the means over its columns.
Why engines need it: ONNX has no adaptive pooling. PyTorch writes AveragePool itself where the
    windows divide the input, and else an ATen node that engines do not know.
Before: y = org.pytorch.aten.adaptive_avg_pool2d (x, [3, 5])      # x: float[1, 2, 7, 11]
After:
    rows = MatMul (x, columns)                                # columns: float[1, 1, 11, 5]
    y = MatMul (lines, rows)                                  # lines: float[1, 1, 3, 7]
When it refuses: The output size is computed at run time, a pooled axis has no known size and keeps
    more than one value below opset 11, rank or dtype are unknown, or the type is not floating
    point.
Accuracy: Exact up to the order of summation and the rounding of the weights 1/n. float16 and
    bfloat16 are computed in float32, as PyTorch accumulates them. Where windows do not divide the
    input, an infinity or NaN spreads to all windows of its row and column, because it is multiplied
    by zero there; in PyTorch it stays in its window.
References: pytorch/pytorch aten/src/ATen/native/AdaptiveAveragePooling.cpp and AdaptivePooling.h
    (windows); https://onnx.ai/onnx/operators/onnx__AveragePool.html;
    https://onnx.ai/onnx/operators/onnx__GlobalAveragePool.html
"""

from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Value, need_rank

from ._adaptive import open_means
from ._arguments import ArrayCall, replacing
from ._axes import SCHEMA, Pooling, along_axis, batched, boxed, pooling_of, widened, windows

NAMES = (
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "_adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "_adaptive_avg_pool3d",
)


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Take the mean of every window by itself, in float64."""
    call = ArrayCall(inputs, attributes, SCHEMA)
    x = call.need("self")
    output = call.entries("output_size") or ()
    first = x.ndim - len(output)
    sizes = [x.shape[first + k] if n is None else int(n) for k, n in enumerate(output)]
    lists = [windows(x.shape[first + k], n) for k, n in enumerate(sizes)]
    result = np.empty((*x.shape[:first], *sizes), dtype=np.float64)
    axes = tuple(range(first, x.ndim))
    every = (slice(None),) * first
    for place in np.ndindex(*sizes):
        box = boxed(lists, place)
        result[(*every, *place)] = x[(*every, *box)].mean(axis=axes, dtype=np.float64)
    return (result.astype(x.dtype),)


@replacing(
    NAMES,
    emits=(
        "Add And AveragePool Cast Div Gather GlobalAveragePool Less MatMul Mul Not Range "
        "ReduceMean Shape Slice Squeeze Sub Transpose Unsqueeze"
    ),
    evaluate=evaluate,
)
def aten_adaptive_avg_pool2d(node: NodeView, build: Builder) -> Value:
    """Pool with fixed windows or constant products, see the module."""
    pooling = pooling_of(node, NAMES)
    spatial = len(pooling.sizes)
    if pooling.is_identity:
        return pooling.x
    if pooling.is_global:
        return batched(build, pooling.x, spatial, build.GlobalAveragePool)
    factors = pooling.factors
    if factors is not None:
        fixed = list(factors)
        return batched(
            build,
            pooling.x,
            spatial,
            lambda x: build.AveragePool(x, kernel_shape=fixed, strides=fixed),
        )
    return widened(build, pooling.x, lambda x: _products(build, x, pooling))


def _products(build: Builder, x: Value, pooling: Pooling) -> Value:
    rank = need_rank(x)
    for position in reversed(range(len(pooling.sizes))):
        axis = rank - len(pooling.sizes) + position
        if pooling.keeps(position):
            continue
        if pooling.sizes[position] == (None, 1):
            x = build.ReduceMean(x, axes=[axis], keepdims=1)
            continue
        size, output = pooling.sizes[position]
        if size is None and output:
            x = open_means(build, x, axis, output)
            continue
        x = along_axis(build, x, axis, _means(*pooling.known(position)))
    return x


def _means(size: int, output: int) -> Array:
    matrix = np.zeros((output, size))
    for row, (start, end) in enumerate(windows(size, output)):
        matrix[row, start:end] = 1 / (end - start)
    return matrix
