"""Quantized means and shares of onnxruntime on floating point numbers.

The order in which onnxruntime adds, scales and rounds was read in microsoft/onnxruntime:
onnxruntime/contrib_ops/cpu/quantization/qlinear_pool.cc, qlinear_softmax.cc.
"""

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np

from graphfix.authoring import (
    APPROXIMATE,
    Array,
    Builder,
    NodeView,
    Refuse,
    Value,
    every_nth,
    need_rank,
)

from ._beyond import like
from ._parameters import result_kind, rounded, saturated, whole
from ._qelements import STEP, any_scale, known, moved_and_rounded, real_of

_NOTHING = (
    "the scale of what goes in is infinite, as measured on a mask of -inf: onnxruntime 1.32 gives "
    "bytes of 0, 1.16 others where the zero point is not 0"
)
_MOST = 64  # places of a window that are added one by one


def average_pool(node: NodeView, build: Builder) -> Value:
    """QLinearAveragePool (x, scale, zero, y scale, y zero): zero points are not in the mean.

    Exact where the window's places are added one by one, as the kernel does; a window that is
    large, or whose input has sizes that are not known, is averaged by AveragePool, which may add
    in another order.
    """
    if node.attr("ceil_mode", 0) and node.attr("count_include_pad", 0):
        raise Refuse(
            "ceil_mode and count_include_pad must not both be 1, where versions count "
            "differently; they are"
        )
    kept = {name: node.attr(name) for name in node.attributes if name != "channels_last"}
    real, turned = _channels_first(node, build, real_of(node, build, 0))
    mean = None if build.option("rounded") else _in_order(node, build, real)
    if mean is None:
        build.declare(APPROXIMATE, STEP)
        mean = build.AveragePool(real, **kept)
    if turned:
        mean = build.Transpose(mean, perm=turned)
    # The zero point is in the quotient when it is rounded.
    quotient = build.Div(mean, known(node, build, 3))
    moved = build.Add(quotient, known(node, build, 4, zero=True))
    return moved_and_rounded(build, moved, result_kind(node, 4))


def _channels_first(node: NodeView, build: Builder, x: Value) -> tuple[Value, list[int]]:
    if not node.attr("channels_last", 0):
        return x, []
    rank = need_rank(x, 3)
    there = [0, rank - 1, *range(1, rank - 1)]
    back = [0, *range(2, rank), 1]
    return build.Transpose(x, perm=there), back


def _in_order(node: NodeView, build: Builder, x: Value) -> Value | None:
    """Add the places of a window row by row, or return None where that is not known or too much."""
    kernel = [int(size) for size in node.attr("kernel_shape", ())]
    count = len(kernel)
    sizes = [x.dim(at + 2) for at in range(count)] if x.rank == count + 2 else [None]
    there = [size for size in sizes if size]
    padded = str(node.attr("auto_pad", "NOTSET")) != "NOTSET"
    if padded or node.attr("ceil_mode", 0) or len(there) < count or prod(kernel) > _MOST:
        return None
    steps = [int(step) for step in node.attr("strides", ())] or [1] * count
    pads = [int(pad) for pad in node.attr("pads", ())] or [0] * 2 * count
    frame = [
        size + before + after
        for size, before, after in zip(there, pads[:count], pads[count:], strict=True)
    ]
    out = [(size - k) // step + 1 for size, k, step in zip(frame, kernel, steps, strict=True)]
    if min(out) < 1 or (any(pads) and build.opset < 11):  # Pad took no input until then
        return None
    if any(pads):
        around = np.array([0, 0, *pads[:count], 0, 0, *pads[count:]])
        x = build.Pad(x, around)  # what is added there is 0
    total: Value | None = None
    for place in product(*(range(k) for k in kernel)):
        part = every_nth(x, place, out, steps, build)
        total = part if total is None else build.Add(total, part)
    assert total is not None  # a window has a place
    if node.attr("count_include_pad", 0) or not any(pads):
        return build.Div(total, np.float32(prod(kernel)))
    return build.Div(total, build.constant(_counts(there, pads, kernel, steps, out)))


def _counts(
    sizes: Sequence[int],
    pads: Sequence[int],
    kernel: Sequence[int],
    steps: Sequence[int],
    out: Sequence[int],
) -> Array:
    """Return of how many places of the input each window is the mean, [1, 1, *out]."""
    result = np.ones((1, 1, *out), np.float32)
    for axis, size in enumerate(sizes):
        starts = np.arange(out[axis]) * steps[axis] - pads[axis]
        counted = np.minimum(starts + kernel[axis], size) - np.maximum(starts, 0)
        shape = [1] * result.ndim
        shape[axis + 2] = out[axis]
        result = result * counted.astype(np.float32).reshape(shape)
    return result


def softmax(node: NodeView, build: Builder) -> Value:
    """QLinearSoftmax (x, scale, y scale, y zero in places 0, 1, 3, 4).

    onnxruntime counts in whole steps, of which 1 has floor(1 / scale). Its exponentials are those
    of the C library, whose last digit decides next to a half. Of an infinite scale it makes NaN,
    and of that bytes of 0 (measured on 1.32.0).
    """
    x, kind = node.need(0), result_kind(node, 4)
    rank = need_rank(x, 1)
    new = int(node.attr("opset", 13)) >= 13
    axis = int(node.attr("axis", -1 if new else 1)) % rank
    steps = np.floor(np.float32(1) / known(node, build, 3))
    zero = known(node, build, 4, zero=True)
    if np.isinf(any_scale(node, build, 1)):
        build.declare(APPROXIMATE, _NOTHING)
        return like(build, whole(build, x), 0)
    build.declare(APPROXIMATE, STEP)
    number = whole(build, x)
    several = not new and axis != rank - 1
    if several:  # the axes from there on are one
        number, rank = build.Reshape(number, np.array([*[0] * axis, -1])), axis + 1
    below = build.Sub(number, build.ReduceMax(number, axes=[axis], keepdims=1))
    shares = _softmax(build, build.Mul(below, known(node, build, 1)), axis, rank)
    counted = rounded(build, build.Mul(shares, np.float32(steps)))
    result = saturated(build, counted, zero, kind)
    return build.Reshape(result, build.Shape(x)) if several else result


def _softmax(build: Builder, x: Value, axis: int, rank: int) -> Value:
    if build.opset >= 13 or axis == rank - 1:
        return build.Softmax(x, axis=axis)
    perm = list(range(rank))
    perm[axis], perm[-1] = perm[-1], perm[axis]
    turned = build.Softmax(build.Transpose(x, perm=perm), axis=rank - 1)
    return build.Transpose(turned, perm=perm)
