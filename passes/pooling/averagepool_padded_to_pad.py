"""Average over a padded input without the pool's own padding.

What it does: Pads with zeros, averages all of each window, and multiplies by window size over
    counted elements where padding does not count.
Why engines need it: MNN divides padded windows over three dimensions by something else, without a
    word. OpenCV counts the padding where the file names the producer pytorch, and OpenCV 5 what
    windows reach beyond it (ceil_mode). TensorRT 7 takes pads at the end that are as wide as at the
    beginning, or one wider.
Before: y = AveragePool <kernel_shape = [2, 2, 2], pads = [1, 1, 1, 1, 1, 1]> (x)
After: y = Mul (AveragePool <kernel_shape = [2, 2, 2]> (Pad (x)), [[8, 4, 8], ...])
When it refuses: Pads are automatic, sizes are not known, windows are dilated, there is nothing to
    pad, or a window lies in the padding as a whole.
Accuracy: Exact up to rounding.
References: https://onnx.ai/onnx/operators/onnx__AveragePool.html; measured on MNN 3.6.1, and on
    OpenCV 4.8.1, 4.10.0 and 5.0.0
"""

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, rewrite


@rewrite(
    "AveragePool",
    removes=(
        "shape:AveragePool.padded3d shape:AveragePool.pads attr:AveragePool.count_include_pad "
        "attr:AveragePool.asymmetric-pads"
    ),
    emits="AveragePool Mul Pad",
    since=7,
)
def averagepool_padded_to_pad(node: NodeView, build: Builder) -> Value:
    """Pad, average and correct, see the module."""
    x, y = node.need(0), node.output(0)
    shape, out = x.shape, None if y is None else y.shape
    if shape is None or out is None or x.dtype is None or x.dtype.kind != "f":
        raise Refuse("element type and sizes must be known")
    sizes, counts = _numbers(shape[2:]), _numbers(out[2:])
    kernel = [int(k) for k in node.attr("kernel_shape")]
    dims = len(kernel)
    strides = [int(s) for s in node.attr("strides", [1] * dims)]
    pads = [int(p) for p in node.attr("pads", [0] * 2 * dims)]
    if node.attr("auto_pad", "NOTSET") != "NOTSET":
        raise Refuse("the pads must be written; they are automatic (auto_pad)")
    if any(int(d) != 1 for d in node.attr("dilations", [1] * dims)):
        raise Refuse("no window must be dilated; some are")
    reach = [(counts[axis] - 1) * strides[axis] + kernel[axis] for axis in range(dims)]
    room = [sizes[axis] + sum(pads[axis::dims]) for axis in range(dims)]
    beyond = [max(0, far - wide) for far, wide in zip(reach, room, strict=True)]
    if not any(pads) and not any(beyond):
        raise Refuse("there must be padding; there is none")
    factor = np.ones([1] * dims)
    counts_pads = bool(node.attr("count_include_pad", 0))
    for axis in range(dims):
        first = pads[axis] if counts_pads else 0
        last = sizes[axis] + (pads[dims + axis] if counts_pads else 0)
        starts = np.arange(counts[axis]) * strides[axis] - pads[axis]
        counted = np.minimum(starts + kernel[axis], last) - np.maximum(starts, -first)
        if (counted < 1).any() or starts[-1] >= sizes[axis]:
            raise Refuse("each window must meet the input; one lies in the padding as a whole")
        along = [-1 if place == axis else 1 for place in range(dims)]
        factor = factor * (kernel[axis] / counted).reshape(along)
    ends = [pads[dims + axis] + beyond[axis] for axis in range(dims)]
    padded = _padded(build, x, [0, 0, *pads[:dims], 0, 0, *ends])
    # An engine that divides padded windows wrongly may not take pads that are left out.
    none = [0] * 2 * dims
    mean = build.AveragePool(padded, kernel_shape=kernel, strides=strides, pads=none)
    return mean if (factor == 1).all() else build.Mul(mean, _typed(factor, x.dtype))


def _padded(build: Builder, x: Value, pads: list[int]) -> Value:
    if build.opset < 11:
        return build.Pad(x, pads=pads)
    return build.Pad(x, np.array(pads, np.int64))


def _typed(factor: Array, dtype: np.dtype[np.generic]) -> Array:
    return factor[None, None].astype(dtype)


def _numbers(sizes: tuple[int | str | None, ...]) -> list[int]:
    found = [size for size in sizes if isinstance(size, int) and size > 0]
    if len(found) < len(sizes):
        raise Refuse("the sizes of input and output must be known and above 0")
    return found
