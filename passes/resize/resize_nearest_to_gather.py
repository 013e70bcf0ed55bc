"""Replace nearest Resize and Upsample by one Gather with constant indices per axis.

What it does:
Nearest sampling along an axis of known size picks one input position per output position. The
positions are computed from the coordinate mode and the nearest mode, and each resized axis
becomes one Gather. Axes that are not resized may be of any size. A node that resizes nothing goes.
Why engines need it:
TensorRT before 8.0 takes only asymmetric coordinates rounded down, 8.x refuse half_pixel_symmetric
and tf_crop_and_resize, and take tf_half_pixel_for_nn only with round_prefer_floor and scales.
Before: y = Resize <mode = "nearest", nearest_mode = "ceil"> (x, , , sizes)     with x [n, 3, 8, 8]
After:
    t = Gather <axis = 2> (x, rows)
    y = Gather <axis = 3> (t, columns)
When it refuses:
An unknown size, scale or region of a resized axis; antialias; an axis where coordinates in
float32, in float64 and in exact arithmetic pick different positions, so that engines need not
agree with one another; a Resize of opset 10 or an Upsample that shrinks, where engines round
differently and ONNX says nothing; a crop with an extrapolation outside the input.
Accuracy: exact: elements are copied, bit by bit, in every type; NaN and infinities as well.

References:
https://onnx.ai/onnx/operators/onnx__Resize.html;
onnxruntime/core/providers/cpu/tensor/upsample.h (coordinates and rounding).
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._reading import Form, form_of, resized_axes
from ._sampling import Axis, nearest_indices, outside_mask


@rewrite(
    ["Resize", "Upsample"],
    removes=(
        "form:empty-constant op:Resize op:Upsample attr:Resize.mode=nearest "
        "attr:Upsample.mode=nearest attr:Resize.nearest_mode=* "
        "attr:Resize.coordinate_transformation_mode=* const:Resize.* const:Upsample.* "
        "dtype:Resize.* dtype:Upsample.* form:Resize.* form:Upsample.* rank:Resize.* "
        "rank:Upsample.*"
    ),
    emits="Gather",
    claims="nan inf",
)
def resize_nearest_to_gather(node: NodeView, build: Builder) -> Value:
    """Replace nearest sampling by gathers."""
    form = form_of(node)
    if form.mode != "nearest":
        raise Refuse(f"the mode must be nearest; it is {form.mode}")
    if form.antialias:
        raise Refuse("antialias must be 0, as ONNX requires for nearest; it is 1")
    axes = resized_axes(node, form)
    value = form.x
    for axis in sorted(axes, key=lambda a: (a.size / a.length, a.index)):
        indices = np.array(_indices(form, axis), dtype=np.int64)
        value = build.Gather(value, indices, axis=axis.index)
    return value


def _indices(form: Form, axis: Axis) -> list[int]:
    outside = outside_mask(axis, form.coordinates)
    if outside is None:
        raise Refuse("no rounding must decide whether a point lies outside the input; it does")
    if outside.any():
        raise Refuse(
            "each point must lie inside the input; one lies outside, where a value is extrapolated"
        )
    indices = nearest_indices(axis, form.coordinates, form.nearest_mode)
    if indices is None:
        raise Refuse(
            f"the pixels of axis {axis.index} must be the same in all engines; they are not"
        )
    if (
        form.implied
        and axis.scale < 1
        and indices != nearest_indices(axis, form.coordinates, "ceil")
    ):
        raise Refuse(
            "nearest must not shrink before opset 11, where ONNX defines no rounding; it does"
        )
    return indices
