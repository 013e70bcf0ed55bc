"""What a Resize or Upsample node asks for, whatever the form it is written in."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from msgspec import Struct

from graphfix.authoring import NodeView, Refuse, Value, need_rank

from ._sampling import COORDINATE_MODES, Axis
from ._vectors import Element, dim_element, known_vector

CROP = "tf_crop_and_resize"
_MODES = {
    "nearest": "nearest",
    "linear": "linear",
    "bilinear": "linear",
    "trilinear": "linear",
    "cubic": "cubic",
}


class Form(Struct, frozen=True):
    """The attributes of a Resize or Upsample, with the defaults of its opset.

    Attributes:
        x: What is resized.
        mode: ``nearest``, ``linear`` or ``cubic``.
        coordinates: The coordinate transformation mode; ``asymmetric`` where it is implied.
        nearest_mode: How nearest rounds; ``floor`` where it is implied.
        implied: Whether the form has no coordinate mode (Upsample, Resize of opset 10).
        antialias: Whether the kernel is stretched when an axis shrinks.
        policy: The ``keep_aspect_ratio_policy``.
        axes: The axes that roi, scales and sizes speak of, none negative.
        rank: The rank of x.
    """

    x: Value
    mode: str
    coordinates: str
    nearest_mode: str
    implied: bool
    antialias: bool
    policy: str
    axes: tuple[int, ...]
    rank: int


def form_of(node: NodeView) -> Form:
    """Read the attributes.

    Raises:
        Refuse: The rank is unknown, or an attribute has a value that ONNX does not know.
    """
    x = node.need(0)
    rank = need_rank(x)
    mode = _MODES.get(str(node.attr("mode", "nearest")))
    if mode is None:
        raise Refuse(f"the mode must be one that ONNX has; it is {node.attr('mode')!r}")
    implied = node.op == "Upsample" or node.opset < 11
    coordinates = "asymmetric"
    if not implied:
        coordinates = str(node.attr("coordinate_transformation_mode", "half_pixel"))
    if coordinates not in COORDINATE_MODES:
        raise Refuse(f"the coordinate mode must be one that ONNX has; it is {coordinates!r}")
    nearest_mode = "floor" if implied else str(node.attr("nearest_mode", "round_prefer_floor"))
    axes = [int(axis) for axis in node.attr("axes", range(rank))]
    if any(not -rank <= axis < rank for axis in axes):
        raise Refuse("the axes must lie in the rank; one does not")
    axes = [axis % rank for axis in axes]
    if len(set(axes)) != len(axes):
        raise Refuse("the axes must differ; one is repeated")
    return Form(
        x=x,
        mode=mode,
        coordinates=coordinates,
        nearest_mode=nearest_mode,
        implied=implied,
        antialias=bool(node.attr("antialias", 0)),
        policy=str(node.attr("keep_aspect_ratio_policy", "stretch")),
        axes=tuple(axes),
        rank=rank,
    )


def scales_input(node: NodeView) -> Value | None:
    """Return the `scales` input; None for Upsample-7 and where an empty tensor is there."""
    if node.op == "Upsample" or node.opset < 11:
        return node.input(1)
    return _unless_empty(node.input(2))


def sizes_input(node: NodeView) -> Value | None:
    """Return the `sizes` input; None where there is none."""
    if node.op == "Upsample" or node.opset < 11:
        return None
    return _unless_empty(node.input(3))


def _unless_empty(value: Value | None) -> Value | None:
    return None if value is None or value.static_shape == (0,) else value


def scale_elements(node: NodeView, form: Form) -> list[Element] | None:
    """Return the scale of each of the form's axes; None where the node gives sizes.

    Raises:
        Refuse: Their number is not that of the axes.
    """
    if node.has("scales"):
        values = np.asarray(node.attr("scales"), dtype=np.float32).tolist()
        return _counted([Fraction(v) for v in values], form, "scales")
    value = scales_input(node)
    if value is None:
        return None
    return _counted(known_vector(value) or [None] * len(form.axes), form, "scales")


def size_elements(node: NodeView, form: Form) -> list[Element] | None:
    """Return the size of each of the form's axes; None where the node gives scales.

    Raises:
        Refuse: Their number is not that of the axes.
    """
    value = sizes_input(node)
    if value is None:
        return None
    known = _counted(known_vector(value) or [None] * len(form.axes), form, "sizes")
    output = node.output(0)
    if form.policy != "stretch" or output is None or output.rank != form.rank:
        return known
    # The sizes are the shape of the output, whatever computes them. Only numbers count: exporters
    # give dimensions of inputs and outputs the same symbol where they differ.
    return [
        _output_size(output, axis) if element is None else element
        for axis, element in zip(form.axes, known, strict=True)
    ]


def _output_size(output: Value, axis: int) -> Element:
    size = output.dim(axis)
    return None if size is None else Fraction(size)


def _counted(elements: Sequence[Element], form: Form, what: str) -> list[Element]:
    if len(elements) != len(form.axes):
        raise Refuse(
            f"there must be {what} for each of {len(form.axes)} axes; there are {len(elements)}"
        )
    return list(elements)


def scaled_size(length: int, scale: Fraction, declared: int | None = None) -> int:
    """Return the size that a scale asks for: the floor of the product.

    Args:
        length: The length that is scaled.
        scale: The scale.
        declared: The size that the model declares, where it does.

    Raises:
        Refuse: Rounding decides, and the size that onnxruntime finds is not the declared one: it
            takes the product in float32, while the shape inference of ONNX
            (onnx/defs/tensor/utils.cc) and the reference evaluator do not.
    """
    rounded = int(np.floor(np.float32(length) * np.float32(float(scale))))
    if rounded not in (declared, math.floor(scale * length)):
        raise Refuse(
            "the rounded size must be the same for all engines; they disagree on the size of "
            f"{length} scaled by {float(scale):.9g}"
        )
    return rounded


def resized_axes(node: NodeView, form: Form) -> tuple[Axis, ...]:
    """Return the axes along which the node does something, with all that is known of them.

    Raises:
        Refuse: A size, a scale or the region of interest of such an axis is known only at run
            time, or engines do not agree on what the node means.
    """
    scales = scale_elements(node, form)
    sizes = None if scales is not None else size_elements(node, form)
    if scales is None and sizes is None:
        raise Refuse("the node must have scales or sizes; it has neither")
    factor = _policy_factor(form, sizes)
    starts, ends = _regions(node, form)
    found: list[Axis] = []
    for place, index in enumerate(form.axes):
        whole = starts[place] == 0 and ends[place] == 1
        if scales is not None:
            axis = _by_scale(node, form, index, scales[place])
        else:
            axis = _by_size(form, index, (sizes or [])[place], factor, whole=whole)
        if axis is None and whole:
            continue
        if axis is None:
            axis = _unscaled(form, index)
        found.append(
            Axis(axis.index, axis.length, axis.size, axis.scale, starts[place], ends[place])
        )
    _check(node, form, found, by_scales=scales is not None)
    return tuple(found)


def _policy_factor(form: Form, sizes: Sequence[Element] | None) -> Fraction | None:
    if sizes is None or form.policy == "stretch":
        return None
    if form.policy not in ("not_larger", "not_smaller"):
        raise Refuse(f"keep_aspect_ratio_policy must be one that ONNX has; it is {form.policy!r}")
    ratios: list[Fraction] = []
    for index, size in zip(form.axes, sizes, strict=True):
        length = form.x.dim(index)
        if not length or not isinstance(size, Fraction):
            raise Refuse("the aspect ratio must be fixed; it is known only at run time")
        ratios.append(size / length)
    return min(ratios) if form.policy == "not_larger" else max(ratios)


def _regions(node: NodeView, form: Form) -> tuple[list[Fraction], list[Fraction]]:
    count = len(form.axes)
    if form.coordinates != CROP:
        return [Fraction(0)] * count, [Fraction(1)] * count
    roi = node.input(1)
    array = None if roi is None else roi.array()
    if array is None:
        raise Refuse("the region of interest must be a constant; it is computed at run time")
    if array.size != 2 * count:
        raise Refuse(f"roi must have two values for each of {count} axes; it has {array.size}")
    values = [Fraction(float(v)) for v in array.reshape(-1)]
    return values[:count], values[count:]


def _unscaled(form: Form, index: int) -> Axis:
    length = form.x.dim(index)
    if length is None:
        raise Refuse(f"the size of axis {index} must be fixed; it is known only at run time")
    return Axis(index, length, length, Fraction(1))


def _by_scale(node: NodeView, form: Form, index: int, scale: Element) -> Axis | None:
    if scale == 1:
        return None
    length = form.x.dim(index)
    output = node.output(0)
    size = None if output is None else output.dim(index)
    if isinstance(scale, Fraction):
        if scale <= 0:
            raise Refuse("the scales must be positive; one is not")
        if length is None:
            raise Refuse(f"the size of axis {index} must be fixed; it is known only at run time")
        return Axis(index, length, scaled_size(length, scale, size), scale)
    if form.coordinates == "align_corners" and not form.antialias and length and size:
        # These coordinates depend on the two lengths alone.
        return Axis(index, length, size, Fraction(size, length))
    raise Refuse(f"the scale of axis {index} must be a constant; it is computed at run time")


def _by_size(
    form: Form, index: int, size: Element, factor: Fraction | None, *, whole: bool
) -> Axis | None:
    length = form.x.dim(index)
    if size is not None and factor is None and size == dim_element(form.x, index) and whole:
        return None
    if length is None or not isinstance(size, Fraction):
        raise Refuse(f"the size of axis {index} must be fixed; it is known only at run time")
    if factor is not None:
        rounded = int(factor * length + Fraction(1, 2))
        return None if factor == 1 else Axis(index, length, rounded, factor)
    if length == 0:
        raise Refuse("the input must not be empty; it is")
    return Axis(index, length, int(size), size / length)


def _check(node: NodeView, form: Form, axes: Sequence[Axis], *, by_scales: bool) -> None:
    output = node.output(0)
    for axis in axes:
        if axis.length < 1 or axis.size < 1:
            raise Refuse("the input and the output must not be empty; one is")
        known = None if output is None else output.dim(axis.index)
        if known is not None and known != axis.size:
            raise Refuse(
                f"axis {axis.index} must be declared as what the node gives, {axis.size}; it is "
                f"declared as {known}"
            )
        if form.coordinates == CROP and by_scales:
            wanted = scaled_size(axis.length, axis.scale * (axis.end - axis.start))
            if wanted != axis.size:
                raise Refuse(
                    "the size of a crop by scales must be the same for all engines;"
                    f" it is {axis.size} or {wanted}"
                )
        if form.coordinates == CROP and axis.length == axis.size and axis.index < form.rank - 2:
            raise Refuse(
                "a crop must not take part of leading axes; engines ignore their region of interest"
            )
    if axes and all(axis.length == axis.size for axis in axes):
        raise Refuse("a size must change, or the scales be 1; else engines copy the input")
    if form.coordinates == "tf_half_pixel_for_nn" and (
        form.mode != "nearest" or form.nearest_mode not in ("floor", "round_prefer_floor")
    ):
        raise Refuse(
            "tf_half_pixel_for_nn must go with nearest, rounding down; it is not defined for "
            f"{form.mode}"
        )
