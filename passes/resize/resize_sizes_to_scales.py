"""Give a Resize scales instead of sizes.

What it does:
Replaces the `sizes` input by constant `scales`, the quotients of the sizes, where the output comes
out the same: lengths are known, or the size is a known multiple of the length. Where float32
cannot hold a quotient, the neighbour is taken whose product with the length is not below the size.
Why engines need it:
TensorRT 7.1 and 7.2 take linear asymmetric coordinates with scales only, trt8 skips `sizes` for
tf_half_pixel_for_nn, and 7.0 cannot read the empty `scales` that opsets 11 and 12 demand next to
`sizes`.
Before: y = Resize <mode = "nearest"> (x, , , sizes)    with x [n, 3, 8, 8], sizes = [n, 3, 16, 16]
After: y = Resize <mode = "nearest"> (x, , scales)     with scales = [1, 1, 2, 2]
When it refuses:
A size or a length of a resized axis is unknown; an aspect policy other than stretch;
tf_crop_and_resize, where scales count from the region; nearest where the rounded quotient picks
other pixels.
Accuracy:
exact: the quotient is rounded to float32 once, which is how engines compute it from sizes. Where
the neighbour above is taken, linear and cubic sites are approximate: samples move by less than
2^-22 of the length, times the slope there.

References:
https://onnx.ai/onnx/operators/onnx__Resize.html; onnxruntime/core/providers/cpu/tensor/upsample.cc
(ParseScalesDataFromOutputSize); onnx-tensorrt builtin_op_importers.cpp, release 7.2 (Resize).
"""

from fractions import Fraction

import numpy as np

from graphfix.authoring import APPROXIMATE, Builder, NodeView, Refuse, Value, needed, rewrite

from ._emitting import resize, sampling_attributes
from ._reading import CROP, Form, form_of, scaled_size, size_elements
from ._sampling import Axis, same_pixels
from ._vectors import Element, Multiple, dim_element


@rewrite(
    "Resize",
    removes=(
        "form:empty-constant const:Resize.* form:Resize.sizes "
        "attr:Resize.coordinate_transformation_mode=*"
    ),
    emits="Resize",
    since=11,
)
def resize_sizes_to_scales(node: NodeView, build: Builder) -> Value:
    """Replace sizes by constant scales."""
    form = form_of(node)
    sizes = needed(size_elements(node, form), "the node must give sizes; it gives none")
    if form.policy != "stretch":
        raise Refuse("the sizes must not be bounds of an aspect policy; they are")
    if form.coordinates == CROP:
        raise Refuse("it must be no crop; scales of a crop count from its region")
    scales = [
        _scale(build, form, index, size) for index, size in zip(form.axes, sizes, strict=True)
    ]
    attributes = sampling_attributes(node)
    if node.has("axes"):
        attributes["axes"] = list(form.axes)
    return resize(build, form.x, attributes=attributes, scales=scales)


def _scale(build: Builder, form: Form, index: int, size: Element) -> float:
    length = dim_element(form.x, index)
    if (
        isinstance(size, Multiple)
        and isinstance(length, Multiple)
        and size.source == length.source
        and Fraction(float(np.float32(float(size.factor)))) == size.factor
    ):
        return float(size.factor)
    if not isinstance(size, Fraction) or not isinstance(length, Fraction):
        raise Refuse(f"the scale of axis {index} must be fixed; it is known only at run time")
    if length < 1 or size < 1:
        raise Refuse("the input and the output must not be empty; one is")
    scale = np.float32(float(size / length))
    if Fraction(float(scale)) * length < size:
        scale = np.nextafter(scale, np.float32(np.inf))
        if form.mode != "nearest" and form.coordinates != "align_corners":
            build.declare(
                APPROXIMATE,
                "a scale is the next float32 above the quotient of the lengths: samples move by "
                "less than 2^-22 of the length",
            )
    given = Fraction(float(scale))
    if scaled_size(int(length), given) != size:
        raise Refuse(f"a float32 scale must give axis {index} its size; none does")
    if form.mode == "nearest":
        before = Axis(index, int(length), int(size), size / length)
        after = Axis(index, int(length), int(size), given)
        if not same_pixels(before, after, form.coordinates, form.nearest_mode):
            raise Refuse(
                f"the rounded scale of axis {index} must pick the same pixels; it does not"
            )
    return float(scale)
