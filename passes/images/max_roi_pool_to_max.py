"""Replace MaxRoiPool with known regions by the largest number of each bin.

What it does: Cuts every bin of every region out with Slice and takes the largest number of each
    channel with MaxPool; a bin that lies outside gives 0.
Why engines need it: TensorRT and most other engines have no MaxRoiPool.
Before: y = MaxRoiPool <pooled_shape = [1, 2]> (x, {{0, 0, 0, 3, 1}})
After:
    a = MaxPool <kernel_shape = [2, 2]> (Slice (x, [0, 0, 0], [1, 2, 2], [0, 2, 3]))
    b = MaxPool <kernel_shape = [2, 2]> (Slice (x, [0, 0, 2], [1, 2, 4], [0, 2, 3]))
    y = Concat <axis = 3> (a, b)
When it refuses: The regions are computed at run time, there are none or more than max_bins bins;
    height, width, the number of images or of channels is unknown; a region names an image that
    there is not, or the type is not float32.
Accuracy: Exact: numbers are compared and moved.
References: https://onnx.ai/onnx/operators/onnx__MaxRoiPool.html;
    onnxruntime/core/providers/cpu/object_detection/roi_pool.cc
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Option, Refuse, Value, need_type, rewrite


@rewrite(
    "MaxRoiPool",
    removes="op:MaxRoiPool",
    emits="Concat MaxPool Slice",
    options={"max_bins": Option(int, 1024, "Largest number of bins of all regions together.")},
)
def max_roi_pool_to_max(node: NodeView, build: Builder) -> Value:
    """Take the largest number of each bin, see the module."""
    x = node.need(0)
    need_type(x, (TensorProto.FLOAT,))
    shape = x.static_shape
    if shape is None or len(shape) != len("NCHW"):
        raise Refuse(f"the four sizes of {x.name} must be known; they are {x.shape}")
    regions = build.need_const(node.need(1), "the regions").reshape(-1, 5)
    rows, columns = (int(size) for size in node.attr("pooled_shape"))
    count = len(regions) * rows * columns
    if not 0 < count <= int(build.option("max_bins")):
        raise Refuse(f"there must be 1 to max_bins bins; there are {count}")
    scale = np.float32(node.attr("spatial_scale", 1.0))
    pooled = [_region(build, x, shape, region, scale, (rows, columns)) for region in regions]
    return _joined(build, pooled, 0)


def _region(
    build: Builder,
    x: Value,
    shape: tuple[int, ...],
    region: Array,
    scale: np.float32,
    bins: tuple[int, int],
) -> Value:
    image = int(region[0])
    if not 0 <= image < shape[0]:
        raise Refuse(f"a region must be of one of {shape[0]} images; it is of {image}")
    vertical = _ends(region[2], region[4], scale, bins[0], shape[2])
    horizontal = _ends(region[1], region[3], scale, bins[1], shape[3])

    def largest(top: int, bottom: int, left: int, right: int) -> Value:
        if bottom <= top or right <= left:
            return build.constant(np.zeros((1, shape[1], 1, 1), np.float32))
        cut = build.Slice(
            x, starts=[image, top, left], ends=[image + 1, bottom, right], axes=[0, 2, 3]
        )
        return build.MaxPool(cut, kernel_shape=[bottom - top, right - left])

    lines = [
        _joined(build, [largest(*upright, *across) for across in horizontal], 3)
        for upright in vertical
    ]
    return _joined(build, lines, 2)


def _ends(
    first: np.float32, last: np.float32, scale: np.float32, bins: int, size: int
) -> list[tuple[int, int]]:
    """Return where each bin begins and ends along an axis, in the order of onnxruntime."""
    start, end = (_nearest(np.float32(corner) * scale) for corner in (first, last))
    width = np.float32(max(end - start + 1, 1)) / np.float32(bins)
    found: list[tuple[int, int]] = []
    for place in range(bins):
        low = int(np.floor(np.float32(place) * width)) + start
        high = int(np.ceil(np.float32(place + 1) * width)) + start
        found.append((min(max(low, 0), size), min(max(high, 0), size)))
    return found


def _nearest(number: np.float32) -> int:
    """Round as C's round does: halves away from zero."""
    wide = float(number)
    return int(np.floor(abs(wide) + 0.5)) * (1 if wide >= 0 else -1)


def _joined(build: Builder, parts: list[Value], axis: int) -> Value:
    return build.Concat(*parts, axis=axis) if len(parts) > 1 else parts[0]
