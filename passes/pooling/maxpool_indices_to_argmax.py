"""Compute the indices of a MaxPool.

What it does: Cuts the input into one slice for each position of the kernel, finds the first of them
    that is largest, and looks up where in the input it lies. Square windows that lie side by side
    are cut by SpaceToDepth, all positions at once.
Why engines need it: TensorRT refuses a MaxPool with a second output ("TensorRT does not support the
    indices output in MaxPool!"); networks that unpool use it.
Before: y, i = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)
After:
    windows = Concat (Unsqueeze (Slice (x, ...)), ...)
    y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)
    i = Add (Gather (offsets, ArgMax (windows)), origins)
When it refuses: Another size than that of the batch is unknown, or that one below opset 11, which
    brought Range; the elements are not floats, the kernel has more than 64 positions, or the opset
    is below 10, whose Slice has no steps.
Accuracy: Exact; of equal elements the first in the kernel counts, as in onnxruntime. NaN is not
    treated.
References: https://onnx.ai/onnx/operators/onnx__MaxPool.html; builtin_op_importers.cpp:2954 of
    onnx-tensorrt, release 8.6; NVIDIA/TensorRT issues 3761, 27
"""

from itertools import product
from math import prod

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, every_nth, rewrite

_MOST = 64
_PADS_AS_INPUT = _RANGE = 11


@rewrite(
    "MaxPool",
    removes="form:MaxPool.indices",
    emits="Add ArgMax Concat Gather MaxPool Mul Pad Range Reshape Shape Slice "
    "SpaceToDepth Squeeze Unsqueeze",
    since=10,
)
def maxpool_indices_to_argmax(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Find the largest position of each window, see the module."""
    x, y = node.need(0), node.output(0)
    shape = _inner(x)
    out = None if y is None else _inner(y)
    dtype, batch = x.dtype, x.dim(0)
    if shape is None or out is None:
        raise Refuse("the sizes must be known, but for the batch")
    if not isinstance(batch, int) and build.opset < _RANGE:
        raise Refuse(f"the batch must be known below opset {_RANGE}, which brought Range")
    if dtype is None or dtype.kind != "f":
        raise Refuse(f"{x.name} must be floating point; it is {x.type_name}")
    if node.output(1) is None:
        raise Refuse("there must be an Indices output; there is none")
    automatic = str(node.attr("auto_pad", "NOTSET"))
    sizes, results = shape[1:], out[1:]
    dims = len(sizes)
    kernel = [int(k) for k in node.attr("kernel_shape")]
    strides = [int(s) for s in node.attr("strides", [1] * dims)]
    gaps = [int(d) for d in node.attr("dilations", [1] * dims)]
    pads = [int(p) for p in node.attr("pads", [0] * 2 * dims)]
    if prod(kernel) > _MOST:
        raise Refuse(f"the kernel must have at most {_MOST} positions; it has {prod(kernel)}")
    # What the last window reads, which with ceil_mode is more than the padding.
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, gaps, strict=True)]
    reach = [(r - 1) * s + e for r, s, e in zip(results, strides, spans, strict=True)]
    before = pads[:dims] if automatic == "NOTSET" else [0] * dims
    if automatic in ("SAME_UPPER", "SAME_LOWER"):
        room = [max(0, e - n) for e, n in zip(reach, sizes, strict=True)]
        before = [(r + int(automatic == "SAME_LOWER")) // 2 for r in room]
    after = [max(0, e - n - p) for e, n, p in zip(reach, sizes, before, strict=True)]
    square = dims == 2 and strides == kernel == [kernel[0]] * 2 and gaps == [1, 1]
    if square and kernel[0] > 1 and reach == list(sizes) and not any(before):
        first = _first_of_tiles(build, x, shape[0], list(results), kernel[0])
    else:
        first = _first_of_slices(build, x, (before, after), (kernel, strides, gaps), results)
    weights = _weights(sizes, column_major=bool(node.attr("storage_order", 0)))
    offsets = [
        sum(p * d * w for p, d, w in zip(position, gaps, weights, strict=True))
        for position in product(*(range(k) for k in kernel))
    ]
    many = batch if isinstance(batch, int) else 1
    origins = np.arange(many * shape[0], dtype=np.int64).reshape(many, shape[0], *[1] * dims)
    origins = origins * prod(sizes)
    moves = zip(results, strides, before, weights, strict=True)
    for axis, (count, stride, pad, weight) in enumerate(moves):
        along = (np.arange(count, dtype=np.int64) * stride - pad) * weight
        origins = origins + along.reshape([-1 if i == axis + 2 else 1 for i in range(dims + 2)])
    indices = build.Add(build.Gather(np.array(offsets, np.int64), first, axis=0), origins)
    if not isinstance(batch, int):
        indices = build.Add(indices, _of_each(x, prod(shape), build))
    plain = {n: node.attr(n) for n in node.attributes if n != "storage_order"}
    return build.MaxPool(x, **plain), indices


def _first_of_tiles(
    build: Builder, x: Value, channels: int, results: list[int], side: int
) -> Value:
    """Return the first largest position of square windows that lie side by side."""
    blocks = build.SpaceToDepth(x, blocksize=side)  # positions first, channels after
    places = build.Reshape(blocks, [x.dim(0) or 0, side * side, channels, *results])
    return build.ArgMax(places, axis=1, keepdims=0)


def _first_of_slices(
    build: Builder,
    x: Value,
    pads: tuple[list[int], list[int]],
    windows: tuple[list[int], list[int], list[int]],
    results: tuple[int, ...],
) -> Value:
    """Return the first largest position of windows, one slice for each position.

    Args:
        build: The builder.
        x: What is pooled.
        pads: How much is before and after each axis.
        windows: Kernel, strides and dilations.
        results: How many windows there are along each axis.
    """
    (before, after), (kernel, strides, gaps), dtype = pads, windows, x.dtype
    assert dtype is not None
    padded = x
    if any(before) or any(after):
        amounts = [0, 0, *before, 0, 0, *after]
        lowest = dtype.type(-np.inf)
        padded = (
            build.Pad(x, pads=amounts, constant_value=lowest, mode="constant")
            if build.opset >= _PADS_AS_INPUT
            else build.Pad(x, pads=amounts, value=float(lowest), mode="constant")
        )
    pieces: list[Value] = []
    for position in product(*(range(k) for k in kernel)):
        starts = [p * d for p, d in zip(position, gaps, strict=True)]
        piece = every_nth(padded, starts, results, strides, build)
        pieces.append(build.Unsqueeze(piece, axes=[0]))
    stacked = build.Concat(*pieces, axis=0)
    return build.ArgMax(stacked, axis=0, keepdims=0)


def _inner(x: Value) -> tuple[int, ...] | None:
    """Return all sizes but that of the batch; None where one of them is not known."""
    known = [size for size in (x.shape or ())[1:] if isinstance(size, int)]
    return tuple(known) if x.rank and len(known) == x.rank - 1 else None


def _of_each(x: Value, elements: int, build: Builder) -> Value:
    """Return where each of the batch begins, for a batch of unknown size."""
    size = build.Slice(build.Shape(x), starts=[0], ends=[1], axes=[0])
    count = build.Squeeze(size, axes=[0])
    begins = build.Mul(build.Range(np.int64(0), count, np.int64(1)), np.int64(elements))
    return build.Reshape(begins, [-1, *[1] * ((x.rank or 1) - 1)])


def _weights(sizes: tuple[int, ...], *, column_major: bool) -> list[int]:
    """Return by how much an index grows along each axis."""
    order = range(len(sizes)) if column_major else reversed(range(len(sizes)))
    weights, step = [0] * len(sizes), 1
    for axis in order:
        weights[axis] = step
        step *= sizes[axis]
    return weights
