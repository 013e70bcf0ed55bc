"""Take MaxpoolWithMask apart.

What it does: Takes the largest of the places of a window, without those that are masked and those
    after a masked one in the same line, as onnxruntime's kernel does, by Max over Slices.
Why engines need it: It is an operator of onnxruntime alone; other engines do not know it.
Before: y = com.microsoft.MaxpoolWithMask <kernel_shape = [2, 2]> (x, mask)
After:
    m = Gather (Reshape (mask, [-1]), places)        # where the kernel reads the mask of a channel
    a = Where (m[.., 0], x[.., 0], lowest), b = Where (And (m[.., 0], m[.., 1]), x[.., 1], lowest)
    y = Max (a, b, ...)
When it refuses: A size of the input or of the mask is unknown, the sizes do not fit, the kernel has
    more than 49 places, or auto_pad is set.
Accuracy: Exact: nothing is computed. The kernel begins to read the mask of channel c at the number
    c * size modulo the number of the mask's channels, not at the mask of the channel, and never
    looks at the first number where there are two axes or more; so does this.
References: onnxruntime/contrib_ops/cpu/maxpool_with_mask.h
"""

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Array,
    Builder,
    NodeView,
    Refuse,
    Value,
    every_nth,
    rewrite,
)

_NAME = "com.microsoft::MaxpoolWithMask"
_MOST = 49  # places of a window


def _windows(
    node: NodeView, sizes: Sequence[int]
) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return kernel, strides, pads and the sizes of the result."""
    kernel = [int(k) for k in node.attr("kernel_shape", ())]
    count = len(kernel)
    strides = [int(s) for s in node.attr("strides", ())] or [1] * count
    pads = [int(p) for p in node.attr("pads", ())] or [0] * 2 * count
    each = zip(sizes, pads[:count], pads[count:], kernel, strides, strict=False)
    out = [(size + a + b - k) // s + 1 for size, a, b, k, s in each]
    return kernel, strides, pads, out


@rewrite(_NAME, emits="Cast Gather Max Mul Pad Reshape Slice Where")
def maxpool_with_mask_to_max(node: NodeView, build: Builder) -> Value:
    """Take the largest of what the mask leaves, see the module."""
    x, mask = node.need(0), node.need(1)
    sizes, others = x.static_shape, mask.static_shape
    if x.elem_type != TensorProto.FLOAT or sizes is None or others is None or len(sizes) < 3:
        raise Refuse(f"{x.name} must be float32, and it and the mask of known sizes; they are not")
    kernel, strides, pads, out = _windows(node, sizes[2:])
    automatic = str(node.attr("auto_pad", "NOTSET")) != "NOTSET"
    if len(kernel) != len(sizes) - 2 or sizes[2:] != others[2:] or automatic or min(out) < 1:
        raise Refuse("kernel, input and mask must fit, and the pads be written; they do not")
    if prod(kernel) > _MOST:
        raise Refuse(f"the kernel must have at most {_MOST} places; it has {prod(kernel)}")
    lowest = np.array(np.finfo(np.float32).min, np.float32)
    seen = build.Cast(build.Cast(_read(build, mask, sizes, others), to=TensorProto.BOOL), to=1)
    if any(pads):
        around = [0, 0, *pads[: len(kernel)], 0, 0, *pads[len(kernel) :]]
        x = build.Pad(x, np.array(around), lowest)
        seen = build.Pad(seen, np.array(around), np.array(1, np.float32))
    found: list[Value] = []
    for line in product(*(range(k) for k in kernel[:-1])):
        passed: Value | None = None
        for last in range(kernel[-1]):
            place = [*line, last]
            here = every_nth(seen, place, out, strides, build)
            passed = here if passed is None else build.Mul(passed, here)
            some = build.Cast(passed, to=TensorProto.BOOL)
            found.append(build.Where(some, every_nth(x, place, out, strides, build), lowest))
    return found[0] if len(found) == 1 else build.Max(*found)


def _read(build: Builder, mask: Value, sizes: Sequence[int], others: Sequence[int]) -> Value:
    """Return the mask in the shape of the input, read where the kernel reads it."""
    step, channels = prod(sizes[2:]), others[0] * others[1]
    starts = np.arange(sizes[0] * sizes[1]) * step % channels
    places = starts[:, None] + np.arange(step)[None, :]
    flat = build.Reshape(mask, np.array([-1]))
    if len(sizes) > 3:  # the first number of two axes or more hides nothing
        ones: Array = np.zeros(step, np.int32)
        ones[0] = 1
        picked = build.Where(
            build.constant(np.broadcast_to(ones.astype(bool), places.shape).copy()),
            build.constant(np.ones((), np.int32)),
            build.Gather(flat, build.constant(places), axis=0),
        )
    else:
        picked = build.Gather(flat, build.constant(places), axis=0)
    return build.Reshape(picked, np.array(sizes))
