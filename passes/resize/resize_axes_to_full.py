"""Spell out the axes and the aspect policy of a Resize of opset 18.

What it does:
`axes` is dropped and scales, sizes and the region of a crop are given for every axis. An aspect
policy (`not_larger`, `not_smaller`) is worked out: sizes where they have the aspect that the
policy keeps, else the common scale.
Why engines need it:
TensorRT 8 and 9 never read `axes` and `keep_aspect_ratio_policy` and compute something else or
complain of a rank; 10 takes stretch only.
Before:
    y = Resize <axes = [2, 3], keep_aspect_ratio_policy = "not_larger"> (x, , , [16, 20])
        with x [1, 3, 8, 8]
After: y = Resize (x, , , [1, 3, 16, 16])
When it refuses:
Nothing to spell out; scales or sizes known only at run time; a policy on lengths known only at
run time; a policy whose sizes, rounded half up, no scale gives, because that one rounds down;
nearest where the rounded scale picks other pixels.
Accuracy: exact: the same sizes and scales, in full.

References:
https://onnx.ai/onnx/operators/onnx__Resize.html (opset 18);
onnxruntime/core/providers/cpu/tensor/upsamplebase.h (AdjustOutputSizeAsPolicy).
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._emitting import resize, sampling_attributes, sizes_value, whole_region
from ._reading import CROP, Form, form_of, resized_axes, scale_elements, scaled_size, size_elements
from ._sampling import Axis, same_pixels
from ._vectors import Element, dim_element


@rewrite(
    "Resize",
    removes=(
        "form:Resize.axes form:Resize.keep_aspect_ratio_policy attr:Resize.axes* "
        "attr:Resize.keep_aspect_ratio_policy=*"
    ),
    emits="Resize Shape Slice Concat",
    since=18,
)
def resize_axes_to_full(node: NodeView, build: Builder) -> Value:
    """Give scales, sizes and region for every axis, and no aspect policy."""
    form = form_of(node)
    scales, sizes = scale_elements(node, form), size_elements(node, form)
    policy = scales is None and form.policy != "stretch"  # it says nothing about scales
    if form.policy == "stretch" and not node.has("axes"):
        raise Refuse("there must be axes or an aspect policy to spell out; there are none")
    attributes = sampling_attributes(node)
    roi = _full_region(node, build, form)
    if policy:
        return _without_policy(node, build, form, roi)
    if scales is not None:
        factors = [1.0] * form.rank
        for index, scale in zip(form.axes, scales, strict=True):
            if not isinstance(scale, Fraction):
                raise Refuse(
                    f"the scale of axis {index} must be fixed; it is known only at run time"
                )
            factors[index] = float(scale)
        return resize(build, form.x, attributes=attributes, scales=factors, roi=roi)
    full: list[Element] = [dim_element(form.x, axis) for axis in range(form.rank)]
    for index, size in zip(form.axes, sizes or [], strict=True):
        if size != full[index] and not isinstance(size, Fraction):
            raise Refuse(f"the size of axis {index} must be fixed; it is known only at run time")
        full[index] = size
    return resize(build, form.x, attributes=attributes, sizes=_sizes(build, form, full), roi=roi)


def _full_region(node: NodeView, build: Builder, form: Form) -> Value | None:
    if form.coordinates != CROP:
        return None
    given = build.need_const(node.input(1), "the region of interest").reshape(-1)
    count = len(form.axes)
    if given.size != 2 * count:
        raise Refuse(f"roi must have two values for each of {count} axes; it has {given.size}")
    region = whole_region(form.rank).astype(given.dtype)
    for place, index in enumerate(form.axes):
        region[index], region[form.rank + index] = given[place], given[count + place]
    return build.constant(region)


def _without_policy(node: NodeView, build: Builder, form: Form, roi: Value | None) -> Value:
    axes = resized_axes(node, form)
    attributes = sampling_attributes(node)
    free = form.coordinates in ("align_corners", CROP) and not form.antialias
    if free or all(axis.scale == Fraction(axis.size, axis.length) for axis in axes):
        full: list[Element] = [dim_element(form.x, axis) for axis in range(form.rank)]
        for axis in axes:
            full[axis.index] = Fraction(axis.size)
        sizes = _sizes(build, form, full)
        return resize(build, form.x, attributes=attributes, sizes=sizes, roi=roi)
    factors = [1.0] * form.rank
    for axis in axes:
        factors[axis.index] = _scale(form, axis)
    return resize(build, form.x, attributes=attributes, scales=factors, roi=roi)


def _scale(form: Form, axis: Axis) -> float:
    given = Fraction(float(np.float32(float(axis.scale))))
    if scaled_size(axis.length, given) != axis.size:
        raise Refuse(f"a scale must give axis {axis.index} its rounded size; none does")
    after = Axis(axis.index, axis.length, axis.size, given)
    if form.mode == "nearest" and not same_pixels(axis, after, form.coordinates, form.nearest_mode):
        raise Refuse(
            f"the rounded scale of axis {axis.index} must pick the same pixels; it does not"
        )
    return float(given)


def _sizes(build: Builder, form: Form, full: Sequence[Element]) -> Value:
    known = [int(size) if isinstance(size, Fraction) else None for size in full]
    return sizes_value(build, form.x, range(form.rank), known, [1] * form.rank)
