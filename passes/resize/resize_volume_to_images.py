"""Resize a volume as images, first in height and width and then in depth.

What it does: A nearest or linear Resize or Upsample of five axes lays channels and depth together
    and resizes [n, c * d, h, w], then lays height and width together and resizes [n, c, d, h * w]
    along the third axis alone.
Why engines need it: ncnn gives volumes back as they are, QNN's HTP computes other values where it
    is linear, and MNN refuses it.
Before: y = Resize <mode = "linear"> (x, , {1, 1, 2, 2, 2})      # x: [1, 2, 3, 4, 5]
After:
    a = Resize <mode = "linear"> (Reshape (x, {1, 6, 4, 5}), , {1, 1, 2, 2})
    b = Resize <mode = "linear"> (Reshape (a, {1, 2, 3, 80}), , {1, 1, 2, 1})
    y = Reshape (b, {1, 2, 6, 8, 10})
When it refuses: Ranks other than five; sizes or scales that are not known; batch or channels that
    are resized; a mode other than nearest or linear, antialias, or coordinates other than
    half_pixel, pytorch_half_pixel, align_corners and asymmetric; nothing that is resized.
Accuracy: Exact up to the order of the weighted sums: both modes go axis by axis.
References: https://onnx.ai/onnx/operators/onnx__Resize.html measured on ncnn 1.0.20261020,
    onnxruntime-qnn 2.7.0 and MNN 3.6.0
"""

from fractions import Fraction

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._emitting import resize, sampling_attributes
from ._reading import form_of, resized_axes, scale_elements
from ._sampling import Axis

_VOLUME = 5
_SIZES = 11  # the opset from which on Resize takes sizes
_PLACES = frozenset({"align_corners", "asymmetric", "half_pixel", "pytorch_half_pixel"})


@rewrite(
    ["Resize", "Upsample"], removes="rank:Resize.5 rank:Upsample.5", emits="Reshape Resize Upsample"
)
def resize_volume_to_images(node: NodeView, build: Builder) -> Value:
    """Resize twice, see the module."""
    form = form_of(node)
    shape = form.x.static_shape
    if form.rank != _VOLUME or shape is None or 0 in shape:
        raise Refuse(
            f"the shape must be static, of rank 5 and not empty; it is {list(form.x.shape or ())}"
        )
    plain = form.mode in ("linear", "nearest") and form.policy == "stretch" and not form.antialias
    if not plain or form.coordinates not in _PLACES:
        raise Refuse(
            "it must be nearest or linear, of no region, without antialias and policy;"
            f" it is {form.mode} with {form.coordinates}"
        )
    axes = {axis.index: axis for axis in resized_axes(node, form)}
    if not axes or min(axes) < 2 or any(axis.size < 1 for axis in axes.values()):
        raise Refuse(f"only depth, height or width must be resized; the axes are {sorted(axes)}")
    # By sizes wherever scales say the same: ncnn knows the batch then.
    whole = all(axis.scale == Fraction(axis.size, axis.length) for axis in axes.values())
    by_scale = scale_elements(node, form) is not None and not (whole and build.opset >= _SIZES)
    batch, channels, depth, *image = shape
    value = form.x
    if 3 in axes or 4 in axes:
        laid = [batch, channels * depth, *image]
        pair = [axes.get(3), axes.get(4)]
        value = _resized(node, build, build.Reshape(value, shape=laid), laid, pair, by_scale)
        image = [_size(axis, length) for axis, length in zip(pair, image, strict=True)]
    if 2 in axes:
        laid = [batch, channels, depth, image[0] * image[1]]
        pair = [axes[2], None]
        value = _resized(node, build, build.Reshape(value, shape=laid), laid, pair, by_scale)
        depth = axes[2].size
    return build.Reshape(value, shape=[batch, channels, depth, *image])


def _size(axis: Axis | None, length: int) -> int:
    return length if axis is None else axis.size


def _resized(
    node: NodeView,
    build: Builder,
    x: Value,
    shape: list[int],
    axes: list[Axis | None],
    by_scale: bool,
) -> Value:
    """Resize the last two axes of an image of a shape; one that is None stays."""
    scales = [1.0, 1.0, *(float(Fraction(1) if axis is None else axis.scale) for axis in axes)]
    if node.op == "Upsample":
        wanted = scales if build.opset < 9 else build.constant(np.array(scales, np.float32))
        return build.Upsample(x, scales=wanted, mode=node.attr("mode", "nearest"))
    attributes = sampling_attributes(node)
    if by_scale:
        return resize(build, x, attributes=attributes, scales=scales)
    sizes = [_size(axis, length) for axis, length in zip(axes, shape[2:], strict=True)]
    return resize(build, x, attributes=attributes, sizes=[*shape[:2], *sizes])
