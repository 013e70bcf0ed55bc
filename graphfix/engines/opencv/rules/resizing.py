"""Resize, Upsample and GridSample."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor

from graphfix.engines.opencv.blocks import is_in_blocks
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value, needed

_MODES = {"linear": "linear", "bilinear": "linear", "nearest": "nearest", "cubic": "cubic"}
_HALF = Fraction(1, 2)
_TAKEN_FROM = "pytorch"  # the producer; onnx_importer.cpp, framework_name
Axis = tuple[int, int, Fraction]  # size of the input and of the output, what ONNX divides by


def _given(node: NodeView, index: int) -> Value | None:
    value = node.input(index)
    return None if value is None or value.static_shape == (0,) else value


def _axes(node: NodeView) -> list[Axis] | None:
    """Return what is known of the axes that change their size; None where sizes are unknown."""
    data, result = node.input(0), node.output(0)
    before = None if data is None else data.static_shape
    after = None if result is None else result.static_shape
    if before is None or after is None or len(before) != len(after):
        return None
    scales = _given(node, 1 if node.op == "Upsample" or node.opset < 11 else 2)
    factors = None if scales is None else scales.array()
    if scales is not None and (factors is None or len(factors) != len(before)):
        return None
    found: list[Axis] = []
    for axis, (small, large) in enumerate(zip(before, after, strict=True)):
        if small <= 0 or large <= 0:
            return None
        ratio = Fraction(large, small)
        scale = ratio if factors is None else Fraction(float(factors[axis]))
        if ratio != 1 or scale != 1:
            found.append((small, large, scale))
    return found


@rule(
    ("Resize", "Upsample"),
    feature="attr:Resize.mode=cubic",
    versions="..opencv4.10",
    severity=REJECT,
    text='interpolation == "opencv_linear" || interpolation == "bilinear"',
    source="resize_layer.cpp:58 (4.10.0); measured; linear Upsample, and Resize of opset 10, of"
    " a file that names pytorch as its producer are computed, from other positions",
)
def resize_mode(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 does not support this mode of {op}."""
    mode = node.attr("mode", "nearest")
    old = node.op == "Upsample" or node.opset < 11
    taken = mode == "linear" and node.graph.root.producer == _TAKEN_FROM
    if mode == "cubic" or (mode in ("linear", "bilinear") and old and not taken):
        return Yes(
            feature=f"attr:{node.op}.mode={mode}", message=f"OpenCV 4 has no {mode} {node.op}"
        )
    return False


@rule(
    ("Resize", "Upsample"),
    feature="attr:Resize.mode=linear",
    severity=WRONG,
    source="measured on 4.8.1, 4.10.0, 5.0.0: of a file that names pytorch as its producer both are"
    " computed with half_pixel; of others 5.0.0 refuses Upsample, and older ones both",
)
def resize_of_old_opset(node: NodeView, target: Target) -> Answer:
    """OpenCV computes linear Resize of opset 10, and Upsample, as those of another opset."""
    mode = node.attr("mode", "nearest")
    if mode not in ("linear", "bilinear") or (node.op == "Resize" and node.opset >= 11):
        return False
    taken = mode == "linear" and node.graph.root.producer == _TAKEN_FROM
    if target.version < (5,) and not taken:
        return False
    refused = node.op == "Upsample" and not taken
    return Yes(feature=f"attr:{node.op}.mode={mode}", severity=REJECT if refused else WRONG)


@rule(
    "Resize",
    feature="attr:Resize.*",
    severity=WRONG,
    source="measured with the node tests of onnx on 4.10.0 and 5.0.0",
)
def resize_attributes(node: NodeView, target: Target) -> Answer:
    """OpenCV ignores some attributes of Resize."""
    if node.attr("antialias", 0):
        return Yes(feature=f"attr:Resize.mode={node.attr('mode', 'nearest')}")
    if node.attr("keep_aspect_ratio_policy", "stretch") != "stretch":
        return Yes(feature="attr:Resize.keep_aspect_ratio_policy=*")
    if node.has("axes"):
        return Yes(feature="attr:Resize.axes")
    coordinates = node.attr("coordinate_transformation_mode", "half_pixel")
    if coordinates in ("half_pixel_symmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn"):
        return Yes(feature=f"attr:Resize.coordinate_transformation_mode={coordinates}")
    return False


@rule(
    ("Resize", "Upsample"),
    feature="attr:Resize.mode=*",
    severity=WRONG,
    source="measured on 4.8.1, 4.10.0 and 5.0.0 for all modes and ratios: it divides by the ratio"
    " of the sizes, and OpenCV 4 rounds in one way for each coordinate mode",
)
def resize_other_positions(node: NodeView, target: Target) -> Answer:
    """OpenCV's {op} samples different positions than ONNX."""
    data = node.input(0)
    mode = _MODES.get(node.attr("mode", "nearest"), "")
    if data is None or data.rank != 4 or not mode:
        return False
    if _is_right_at_all_sizes(node, target):
        return False
    axes = needed(_axes(node), "the sizes before and after")
    old = node.op == "Upsample" or node.opset < 11
    way = "asymmetric" if old else node.attr("coordinate_transformation_mode", "half_pixel")
    feature = f"attr:{node.op}.mode={mode}"
    if mode != "nearest":
        moved = way != "align_corners" and any(
            Fraction(large, small) != scale for small, large, scale in axes
        )
        lone = target.version < (5,) and way == "pytorch_half_pixel"
        moved = moved or (lone and any(large == 1 for _, large, _ in axes))
        return moved and Yes(feature=feature)
    rounding = "floor" if old else node.attr("nearest_mode", "round_prefer_floor")
    for axis in axes:
        wanted = list(_positions(axis, way, rounding, axis[2]))
        own = "" if target.version < (5,) else rounding
        ratio = Fraction(axis[1], axis[0])
        if wanted != list(_positions(axis, way, own, ratio)):
            return Yes(feature=feature)
    return False


def _is_right_at_all_sizes(node: NodeView, target: Target) -> bool:
    """Say whether nothing depends on sizes: they are given, or all scales are integers."""
    old = node.op == "Upsample" or node.opset < 11
    scales = _given(node, 1 if old else 2)
    factors = None if scales is None else scales.array()
    if scales is not None and (factors is None or any(f != int(f) or f < 1 for f in factors)):
        return False
    if target.version >= (5,):
        return True
    way = "asymmetric" if old else node.attr("coordinate_transformation_mode", "half_pixel")
    if node.attr("mode", "nearest") != "nearest":
        return bool(way != "pytorch_half_pixel")
    rounding = "floor" if old else node.attr("nearest_mode", "round_prefer_floor")
    return (way, rounding) in (
        ("half_pixel", "round_prefer_ceil"),
        ("align_corners", "round_prefer_ceil"),
        ("asymmetric", "floor"),
    )


def _positions(axis: Axis, way: str, rounding: str, scale: Fraction) -> Iterator[int]:
    """Yield which element each output is; without `rounding` as OpenCV 4 rounds."""
    small, large, _ = axis
    lone = large == 1
    for place in range(large):
        if way == "align_corners":
            exact = Fraction(0) if lone else Fraction(place * (small - 1), large - 1)
        elif way == "asymmetric":
            exact = place / scale
        elif way == "pytorch_half_pixel" and lone and rounding:
            exact = Fraction(0)
        else:
            exact = (place + _HALF) / scale - _HALF
        own = "floor" if way == "asymmetric" else "round_prefer_ceil"
        yield min(max(_rounded(exact, rounding or own), 0), small - 1)


def _rounded(exact: Fraction, rounding: str) -> int:
    if rounding == "floor":
        return floor(exact)
    if rounding == "ceil":
        return ceil(exact)
    return floor(exact + _HALF) if rounding == "round_prefer_ceil" else ceil(exact - _HALF)


@rule(
    "Resize",
    feature="attr:Resize.mode=linear",
    versions="opencv5.0..",
    severity=WRONG,
    source="measured on 5.0.0: GlobalAveragePool, Conv, Relu and a linear Resize give other"
    " numbers, which differ from run to run; facts/asked.json, resize-of-one",
)
def resize_of_one_behind_conv(node: NodeView, target: Target) -> Answer:
    """OpenCV reads foreign memory in linear Resize of a single element after a Conv."""
    data, result = node.input(0), node.output(0)
    if data is None or result is None or _MODES.get(node.attr("mode", "nearest")) != "linear":
        return False
    before, after = data.shape, result.shape
    if before is None or after is None or len(before) != 4 or len(after) != 4:
        return False
    grows = any(one == 1 and two != 1 for one, two in zip(before, after, strict=True))
    return grows and is_in_blocks(data)
