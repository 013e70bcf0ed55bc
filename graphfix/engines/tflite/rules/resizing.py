"""TFLite: Resize and Upsample, where onnx2tf reads other places than ONNX says.

onnx2tf hands images to ``tf.compat.v1.image.resize_*`` with the coordinate mode of the node up to
opset 17, and to ``tf.image.resize``, which knows no mode but half_pixel, from 18 on, in every mode
that it does not list, and for Upsample (``ops/Resize.py``, ``ops/Upsample.py``). Both get sizes:
the scale that places are divided by is their ratio. LiteRT rounds to the nearest in one way for
each mode (``kernels/internal/reference/resize_nearest_neighbor.h``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.tflite.rules import MEASURED
from graphfix.ir.views import NodeView, Value

_SCALES_THIRD = 11  # the opset from which on Resize has coordinate modes, and scales third
_FOR_IMAGES_ALONE = 18  # the opset from which on every mode is computed as half_pixel
_KNOWN = ("half_pixel", "asymmetric", "align_corners")
_MODE = "coordinate_transformation_mode"
_LINES, _IMAGE, _VOLUME = 3, 4, 5
_OF_SPACE = 2  # the first axis that is resized
_NEAR = 1e-3  # of a pixel
_ASKED = f"{MEASURED}: facts/asked.json"
Array = np.ndarray[Any, Any]


class _Axis(NamedTuple):
    """An axis that changes its size: sizes of the input and the output, and ONNX' scale."""

    length: int
    size: int
    scale: float


def _implied(node: NodeView) -> bool:
    return node.op == "Upsample" or node.opset < _SCALES_THIRD


def _way(node: NodeView) -> str:
    return "asymmetric" if _implied(node) else str(node.attr(_MODE, "half_pixel"))


def _way_here(node: NodeView) -> str:
    """Return the coordinate mode that is computed."""
    if _implied(node) or node.opset >= _FOR_IMAGES_ALONE:
        return "half_pixel"
    way = _way(node)
    return way if way in _KNOWN else "half_pixel"


def _given(node: NodeView, index: int) -> Value | None:
    value = node.input(index)
    return None if value is None or value.static_shape == (0,) else value


def _axes(node: NodeView) -> list[_Axis] | None:
    """Return the axes that are resized, None where sizes or scales are not known."""
    data, result = node.input(0), node.output(0)
    before = None if data is None else data.static_shape
    after = None if result is None else result.static_shape
    if before is None or after is None or len(before) != len(after):
        return None
    factors: Array | None = None
    scales = _given(node, 1 if _implied(node) else 2)
    if scales is not None:
        factors = scales.array()
        if factors is None:
            return None
    if node.has("scales"):
        factors = np.asarray(node.attr("scales"))
    named = [int(axis) % len(before) for axis in node.attr("axes", range(len(before)))]
    found: list[_Axis] = []
    for place, axis in enumerate(named):
        length, size = before[axis], after[axis]
        if length < 1 or size < 1:
            return None
        scale = size / length
        if factors is not None:  # in float32, as onnxruntime does it, a size may be one more
            scale = float(factors[place])
            size = int(np.float32(length) * np.float32(scale))
        found.append(_Axis(length, size, scale))
    return [axis for axis in found if axis.length != axis.size or axis.scale != 1.0]


def _coordinates(axis: _Axis, way: str) -> Array:
    """Return where each element of the output lies, in float32 as onnxruntime computes it."""
    half, scale = np.float32(0.5), np.float32(axis.scale)
    places = np.arange(axis.size, dtype=np.float32)
    if way == "align_corners":
        return places * np.float32(axis.length - 1) / np.float32(max(axis.size - 1, 1))
    if way == "asymmetric":
        return places / scale
    if way == "pytorch_half_pixel" and axis.size == 1:
        return np.zeros(1, np.float32)
    if way == "tf_half_pixel_for_nn":
        centres: Array = (places + half) / scale
        return centres
    moved = np.float32(0.0)
    if way == "half_pixel_symmetric":
        moved = half * np.float32(axis.length) * (1 - axis.size / (scale * axis.length))
    centred: Array = moved + (places + half) / scale - half
    return centred


def _nearest(places: Array, how: str) -> Array:
    if how == "floor":
        return np.floor(places)
    if how == "ceil":
        return np.ceil(places)
    part, whole = np.modf(places)
    if how == "round_prefer_ceil":
        return whole + (part >= 0.5)
    return whole + (part > 0.5)


def _nearest_here(axis: _Axis, way: str) -> Array:
    """Return which elements LiteRT takes."""
    aligned = way == "align_corners" and axis.size > 1
    length, size = (axis.length - 1, axis.size - 1) if aligned else (axis.length, axis.size)
    scale = np.float32(length) / np.float32(size)
    offset = np.float32(0.5 if way == "half_pixel" else 0.0)
    places = (np.arange(axis.size, dtype=np.float32) + offset) * scale
    rounded = np.floor(places + np.float32(0.5)) if way == "align_corners" else np.floor(places)
    taken: Array = np.minimum(rounded, axis.length - 1)
    return taken


def _reads_others(axis: _Axis, node: NodeView, mode: str) -> bool:
    """Say whether elements of an axis are computed from others."""
    last = axis.length - 1
    wanted = np.maximum(_coordinates(axis, _way(node)), 0)
    if mode == "nearest":
        how = str(node.attr("nearest_mode", "round_prefer_floor"))
        taken = _nearest(wanted, "floor" if _implied(node) else how)
        return not np.array_equal(np.minimum(taken, last), _nearest_here(axis, _way_here(node)))
    ratio = axis._replace(scale=axis.size / axis.length)
    here = np.maximum(_coordinates(ratio, _way_here(node)), 0)
    return bool(np.any(np.abs(np.minimum(wanted, last) - np.minimum(here, last)) > _NEAR))


@rule(
    ("Resize", "Upsample"),
    feature=f"attr:{{op}}.{_MODE}",
    severity=WRONG,
    source=f"{_ASKED}, resize-*, upsample; ops/Resize.py: opset <= 17 is next to each mode",
)
def resize_other_places(node: NodeView, target: Target) -> Answer:
    """onnx2tf's {op} samples positions that differ from its coordinate and rounding modes."""
    mode = str(node.attr("mode", "nearest"))
    if mode == "cubic" or _way(node) == "tf_crop_and_resize":
        return None
    axes = _axes(node)
    if axes is None:
        same = mode != "nearest" and _way(node) == _way_here(node) and _given(node, 3) is not None
        return None if same else Unknown("the sizes before and after, and the scales")
    if not any(_reads_others(axis, node, mode) for axis in axes):
        return None
    if _implied(node):
        return Yes(feature=f"form:{node.op}.{'nearest' if mode == 'nearest' else '10'}")
    return Yes(feature=f"attr:Resize.{_MODE}={_way(node)}")


@rule(
    ("Resize", "Upsample"),
    feature="rank:{op}",
    severity=REJECT,
    text="'images' must have either 3 or 4 dimensions.",
    source=f"{_ASKED}, resize-volume, resize-ranks, upsample",
)
def resized_rank(node: NodeView, target: Target) -> Answer:
    """onnx2tf supports {op} of rank 3 and 4, and Resize of rank 5 in some modes up to opset 17."""
    x = node.input(0)
    if x is None:
        return None
    if x.rank is None:
        return Unknown(f"rank of {x.name}")
    volumes = node.op == "Resize" and node.opset < _FOR_IMAGES_ALONE
    if volumes and x.rank == _VOLUME and (_implied(node) or _way(node) in _KNOWN):
        return None
    return x.rank not in (_LINES, _IMAGE) and Yes(feature=f"rank:{node.op}.{x.rank}")


@rule(
    "Resize",
    feature="attr:Resize.mode",
    severity=WRONG,
    source=f"{_ASKED}, resize-ranks: ops/Resize.py hands on the sizes of the axes of space alone",
)
def resized_channels(node: NodeView, target: Target) -> Answer:
    """onnx2tf does not resize the batch or channel axis."""
    data, result = node.input(0), node.output(0)
    before = None if data is None else data.shape
    after = None if result is None else result.shape
    if before is None or after is None or len(before) < _LINES or len(before) != len(after):
        return None
    sizes = [*zip(before[:_OF_SPACE], after[:_OF_SPACE], strict=True)]
    moved = any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in sizes)
    return moved and Yes(feature=f"attr:Resize.mode={node.attr('mode', 'nearest')}")


@rule(
    "Resize",
    feature="form:Resize.axes",
    severity=REJECT,
    text="'size' must be a 1-D Tensor of 2 elements: new_height, new_width",
    source=f"{_ASKED}, resize-attributes: scales of some axes, and sizes of all, are taken",
)
def sizes_of_some_axes(node: NodeView, target: Target) -> Answer:
    """onnx2tf requires sizes of Resize for all axes."""
    sizes = _given(node, 3)
    if sizes is None or not node.has("axes"):
        return None
    x = node.input(0)
    return x is None or x.rank is None or list(node.attr("axes")) != list(range(x.rank))


@rule(
    "Resize",
    feature="attr:Resize.keep_aspect_ratio_policy",
    severity=WRONG,
    source=f"{_ASKED}, resize-policy",
)
def resize_of_one_ratio(node: NodeView, target: Target) -> Answer:
    """onnx2tf returns other sizes than ONNX for this keep_aspect_ratio_policy."""
    policy = str(node.attr("keep_aspect_ratio_policy", "stretch"))
    if policy == "stretch" or _given(node, 3) is None:
        return None
    return Yes(feature=f"attr:Resize.keep_aspect_ratio_policy={policy}")
