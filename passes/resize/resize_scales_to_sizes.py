"""Give a Resize sizes instead of scales.

What it does:
Replaces the `scales` input by `sizes`, where the output comes out the same: the scale is the
quotient of the two lengths, or the coordinates do not depend on it (align_corners). Axes of
unknown length take their size from Shape where the scale is an integer.
Why engines need it:
TensorRT 7.1 and 7.2 compute align_corners with sizes only ("TensorRT only supports half pixel,
pytorch half_pixel, and asymmetric tranformation mode for linear resizes when scales are
provided!").
Before: y = Resize <coordinate_transformation_mode = "align_corners", mode = "linear"> (x, , scales)
After: y = Resize <coordinate_transformation_mode = "align_corners", mode = "linear"> (x, , , sizes)
When it refuses:
A scale is unknown, or is no integer on an axis of unknown length; a scale that is not the
quotient of the lengths, in modes that compute with it; tf_crop_and_resize; nearest where the
quotient picks other pixels; opset 10, which has no sizes.
Accuracy:
exact: engines compute the scale of sizes in float32, and it is that of the node to the last bit.
Where it is the neighbour of that, linear and cubic sites are approximate: samples move by less
than 2^-22 of the length, times the slope there.

References:
https://onnx.ai/onnx/operators/onnx__Resize.html; onnxruntime/core/providers/cpu/tensor/upsample.cc;
onnx-tensorrt builtin_op_importers.cpp, release 7.2 (Resize).
"""

from fractions import Fraction

import numpy as np

from graphfix.authoring import APPROXIMATE, Builder, NodeView, Refuse, Value, needed, rewrite

from ._emitting import resize, sampling_attributes, sizes_value
from ._reading import CROP, Form, form_of, scale_elements, scaled_size
from ._sampling import Axis, same_pixels


@rewrite(
    "Resize",
    removes="const:Resize.scales form:Resize.scales attr:Resize.coordinate_transformation_mode=*",
    emits="Resize Shape Slice Mul Concat",
    since=11,
)
def resize_scales_to_sizes(node: NodeView, build: Builder) -> Value:
    """Replace scales by sizes."""
    form = form_of(node)
    scales = needed(scale_elements(node, form), "the node must give scales; it gives none")
    if form.coordinates == CROP:
        raise Refuse("it must be no crop; scales of a crop count from its region")
    known: list[int | None] = []
    factors: list[int] = []
    for index, scale in zip(form.axes, scales, strict=True):
        if not isinstance(scale, Fraction) or scale <= 0:
            raise Refuse(f"the scale of axis {index} must be fixed; it is known only at run time")
        output = node.output(0)
        declared = None if output is None else output.dim(index)
        size = _size(build, form, index, scale, declared)
        if size is None and scale.denominator != 1:
            raise Refuse(f"the size of axis {index} must be fixed; it is known only at run time")
        known.append(size)
        factors.append(int(scale))
    attributes = sampling_attributes(node)
    if node.has("axes"):
        attributes["axes"] = list(form.axes)
    sizes = sizes_value(build, form.x, form.axes, known, factors)
    return resize(build, form.x, attributes=attributes, sizes=sizes)


def _size(
    build: Builder, form: Form, index: int, scale: Fraction, declared: int | None
) -> int | None:
    length = form.x.dim(index)
    if length is None:
        return None
    size = scaled_size(length, scale, declared)
    if length < 1 or size < 1:
        raise Refuse("the input and the output must not be empty; one is")
    if form.coordinates == "align_corners" and not form.antialias and form.mode != "nearest":
        return size
    quotient = np.float32(size / length)
    if abs(Fraction(float(quotient)) - scale) > Fraction(float(np.spacing(quotient))):
        raise Refuse(f"the scale of axis {index} must be the quotient of its lengths; it is not")
    if form.mode != "nearest" and Fraction(float(quotient)) != scale:
        build.declare(
            APPROXIMATE,
            "a scale is not the quotient of the lengths but the float32 next to it: samples move "
            "by less than 2^-22 of the length",
        )
    if form.mode == "nearest":
        before = Axis(index, length, size, scale)
        after = Axis(index, length, size, Fraction(size, length))
        if not same_pixels(before, after, form.coordinates, form.nearest_mode):
            raise Refuse(f"the quotient of axis {index} must pick the same pixels; it picks others")
    return size
