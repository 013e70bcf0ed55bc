"""Pool a volume as images, first in height and width and then in depth.

What it does: A pool of five axes lays channels and depth together and pools [n, c * d, h, w], then
    lays height and width together and pools [n, c, d, h * w] along the third axis alone. A global
    pool lays depth and height together and pools once.
Why engines need it: MNN computes other values for all batches but the first, and where a pool over
    three dimensions is padded unevenly or rounds up. QNN's HTP has no MaxPool of five axes.
Before:
    y = MaxPool <kernel_shape = [2, 3, 3], pads = [0, 1, 1, 0, 1, 1]> (x)    # x: [n, 2, 4, 8, 9]
After:
    a = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (Reshape (x, {0, 8, 8, 9}))
    b = MaxPool <kernel_shape = [2, 1], pads = [0, 0, 0, 0]> (Reshape (a, {0, 2, 4, 72}))
    y = Reshape (b, {0, 2, 3, 8, 9})
When it refuses: Ranks other than five; sizes other than that of the batch that are not known or 0;
    indices of MaxPool.
Accuracy: Exact; averages up to rounding: what a window counts is the product of what it counts
    along each axis.
References: https://onnx.ai/onnx/operators/onnx__MaxPool.html, onnx__AveragePool.html; measured on
    MNN 3.6.1 and onnxruntime-qnn 2.7.0
"""

from typing import Any

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_VOLUME = 5
_SLIDING = ("AveragePool", "MaxPool")
_GLOBAL = ("GlobalAveragePool", "GlobalMaxPool")
_ALONG = ("dilations", "kernel_shape", "strides")
_KEPT = ("auto_pad", "ceil_mode", "count_include_pad")


@rewrite(
    (*_SLIDING, *_GLOBAL),
    removes=(
        *(f"rank:{op}.5" for op in (*_SLIDING, *_GLOBAL)),
        *(f"form:{op}.no-pads" for op in _SLIDING),
        *(f"attr:{op}.auto_pad" for op in _SLIDING),
        "shape:AveragePool.padded3d",
    ),
    emits=("Reshape", *_SLIDING, *_GLOBAL),
)
def pool_volume_to_images(node: NodeView, build: Builder) -> Value:
    """Pool twice, see the module."""
    x, y = node.need(0), node.output(0)
    if x.rank != _VOLUME:
        raise Refuse(f"the input must be of rank 5; its rank is {x.rank}")
    channels, depth, height, width = _known(x)
    if node.op in _GLOBAL:
        image = build.Reshape(x, shape=[0, channels, depth * height, width])
        pooled = build.multi(node.op, image, outputs=1)[0]
        return build.Reshape(pooled, shape=[0, channels, 1, 1, 1])
    if node.output(1) is not None:
        raise Refuse("the indices must not be asked for; they are")
    if y is None:
        raise Refuse("the output must be used; it is not")
    _, deep, high, wide = _known(y)
    images = build.Reshape(x, shape=[0, channels * depth, height, width])
    flat = _pooled(node, build, images, [1, 2])
    lines = build.Reshape(flat, shape=[0, channels, depth, high * wide])
    return build.Reshape(
        _pooled(node, build, lines, [0, None]), shape=[0, channels, deep, high, wide]
    )


def _known(value: Value) -> list[int]:
    """Return all sizes but that of the batch."""
    sizes = [value.dim(axis) for axis in range(1, _VOLUME)]
    found = [size for size in sizes if size]
    if len(found) < len(sizes):
        raise Refuse(f"the sizes of {value.name} must be known and above 0, but for the batch")
    return found


def _pooled(node: NodeView, build: Builder, x: Value, axes: list[int | None]) -> Value:
    """Pool images along two axes of the node; None is an axis that stays as it is."""
    written: dict[str, Any] = {name: node.attr(name) for name in _KEPT if node.has(name)}
    for name in _ALONG:
        sizes = [int(size) for size in node.attr(name, ())] or [1] * (_VOLUME - 2)
        if name != "dilations" or node.has(name):
            written[name] = [1 if axis is None else sizes[axis] for axis in axes]
    if node.attr("auto_pad", "NOTSET") == "NOTSET":
        pads = [int(pad) for pad in node.attr("pads", ())] or [0] * 2 * (_VOLUME - 2)
        begins, ends = pads[: _VOLUME - 2], pads[_VOLUME - 2 :]
        ordered = (begins, ends)
        written["pads"] = [0 if axis is None else side[axis] for side in ordered for axis in axes]
    return build.multi(node.op, x, outputs=1, **written)[0]
