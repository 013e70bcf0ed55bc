"""ncnn: Resize and Upsample.

pnnx turns a Resize into F.interpolate of PyTorch where its attributes are of those that it knows
(tools/pnnx/src/pass_level2/F_interpolate.cpp), and ncnn's Interp takes the nearest of asymmetric
places rounded down, whatever was meant (src/layer/interp.cpp).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.authoring.declaring import Unknown
from graphfix.engines.ncnn.rules import FACTS, RANK
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value

_PLACES = "coordinate_transformation_mode"
_WITH_PLACES = 11  # the opset from which on Resize has them
_LACKED = "layer Resize not exists or registered"
_OUTER = 2  # the axes of batches and channels
Places = np.ndarray[Any, np.dtype[np.float32]]


@rule(
    "Resize",
    feature="attr:Resize.mode=nearest",
    severity=WRONG,
    source=f"{FACTS}: asymmetric places rounded down are taken whatever is asked for; 4 to 8 and to"
    " 6 pixels from half places are equal, and 9 to 3 are not",
)
def nearest_of_other_places(node: NodeView, target: Target) -> Answer:
    """ncnn computes nearest Resize as asymmetric with floor, whatever the attributes say."""
    if node.opset < _WITH_PLACES or node.attr("mode", "") != "nearest":
        return False
    if node.attr("nearest_mode", "floor") != "floor":
        return False  # `rounding_that_is_written` judges it
    known = _axes(node)
    if known is None:
        return Unknown("sizes of what is resized")
    return any(_reads_others(node, *axis) for axis in known if axis[0] != axis[1])


def _axes(node: NodeView) -> list[tuple[int, int, float | None]] | None:
    """Return size, size that is asked for and scale, where scales are given, of each axis."""
    x, y, scales = node.input(0), node.output(0), node.input(2)
    before = None if x is None else x.static_shape
    after = None if y is None else y.static_shape
    if before is None or after is None or not all((*before, *after)):
        return None
    factors: list[float | None] = [None] * len(before)
    if scales is not None and scales.static_shape != (0,):
        array = scales.array()
        if array is None or len(array) != len(before):
            return None
        factors = [float(factor) for factor in array]
    return list(zip(before, after, factors, strict=True))


def _reads_others(node: NodeView, size: int, end: int, factor: float | None) -> bool:
    """Say whether ncnn takes other pixels of an axis than are meant."""
    meant = _meant(str(node.attr(_PLACES, "half_pixel")), size, end, factor)
    if meant is None:
        return True
    rounds_down = node.has("nearest_mode")
    pixels = np.floor(meant) if rounds_down else np.ceil(meant - np.float32(0.5))
    step = np.float32(size / end) if factor is None else np.float32(1) / np.float32(factor)
    taken = np.minimum(np.floor(np.arange(end, dtype=np.float32) * step), size - 1)
    return not np.array_equal(np.clip(pixels, 0, size - 1), taken)


def _meant(how: str, size: int, end: int, factor: float | None) -> Places | None:
    """Return the places that ONNX asks for; None for ways that are rarely written."""
    places = np.arange(end, dtype=np.float32)
    scale = np.float32(end / size if factor is None else factor)
    half = (places + np.float32(0.5)) / scale - np.float32(0.5)
    if how == "align_corners":
        return places * np.float32((size - 1) / max(end - 1, 1))
    if how == "pytorch_half_pixel":
        return half if end > 1 else np.zeros(1, np.float32)
    return {"half_pixel": half, "asymmetric": places / scale}.get(how)


@rule(
    "Resize",
    feature="attr:Resize.coordinate_transformation_mode",
    severity=WRONG,
    source=f"{FACTS}: linear and cubic of half_pixel and align_corners are equal, and of"
    " pytorch_half_pixel where no axis becomes one of size 1",
)
def mixture_of_other_places(node: NodeView, target: Target) -> Answer:
    """ncnn supports half_pixel and align_corners for linear and cubic Resize only."""
    how = node.attr(_PLACES, "half_pixel")
    if node.attr("mode", "nearest") == "nearest" or how in ("half_pixel", "align_corners"):
        return False
    feature = f"attr:Resize.{_PLACES}={how}"
    if how != "pytorch_half_pixel":
        return Yes(feature=feature)
    known = _axes(node)
    if known is None:
        return Unknown("sizes of what is resized")
    return any(end == 1 != size for size, end, _ in known) and Yes(feature=feature)


@rule(
    ("Resize", "Upsample"),
    feature="rank:{op}",
    severity=WRONG,
    source=f"{FACTS}: of five axes linear and nearest give the sizes that went in, of two they"
    " become no layer, and of three and four they are equal; with cubic of three pnnx ends",
)
def resize_of_no_image(node: NodeView, target: Target) -> Answer:
    """ncnn resizes images only: it leaves volumes unchanged and refuses matrices."""
    x = node.input(0)
    if x is None:
        return None
    if x.rank is None:
        return Unknown(f"rank of {x.name}")
    cubic = node.attr("mode", "nearest") == "cubic"
    if x.rank == RANK or (x.rank == RANK - 1 and not cubic):
        return False
    severity = WRONG if x.rank > RANK else REJECT
    return Yes(feature=f"rank:{node.op}.{x.rank}", severity=severity)


@rule(
    ("Resize", "Upsample"),
    feature="attr:{op}.mode",
    severity=REJECT,
    text=_LACKED,
    source=f"{FACTS}: all of opset 10; Upsample is wrong where it is linear, nearest is equal, and"
    " the mode must be explicit",
)
def resize_of_old_opset(node: NodeView, target: Target) -> Answer:
    """pnnx does not support Resize of opset 10, and misreads linear Upsample."""
    mode = node.attr("mode", "nearest")
    feature = f"attr:{node.op}.mode={mode}"
    if node.op == "Upsample" and node.has("mode"):
        return mode == "linear" and Yes(feature=feature, severity=WRONG)
    if node.op == "Upsample":
        return Yes(feature=feature)
    return node.opset < _WITH_PLACES and Yes(feature=feature)


@rule(
    "Resize",
    feature="form:Resize.outer-dims",
    severity=REJECT,
    text=_LACKED,
    source=f"{FACTS}: by scales pnnx ends",
)
def resize_of_channels(node: NodeView, target: Target) -> Answer:
    """pnnx does not resize the batch or channel axis."""
    known = _axes(node)
    return known is not None and any(size != end for size, end, _ in known[:_OUTER])


@rule(
    "Resize",
    feature="form:Resize.axes",
    severity=REJECT,
    text=_LACKED,
    source=f"{FACTS}: with the other policies it gives nothing",
)
def resize_of_some_axes(node: NodeView, target: Target) -> Answer:
    """pnnx requires sizes for all axes, and keep_aspect_ratio_policy stretch."""
    axes, x = node.attr("axes", None), node.input(0)
    if node.attr("keep_aspect_ratio_policy", "stretch") != "stretch":
        return Yes(feature="form:Resize.keep_aspect_ratio_policy")
    rank = None if x is None else x.rank
    return axes is not None and (rank is None or list(axes) != list(range(rank)))


@rule(
    "Resize",
    feature="form:Resize.region",
    severity=REJECT,
    text=_LACKED,
    source=f"{FACTS}: one of no numbers is taken",
)
def resize_of_a_region(node: NodeView, target: Target) -> Answer:
    """pnnx does not support a roi input of Resize that is not empty."""
    roi = node.input(1) if node.opset >= _WITH_PLACES else None
    return roi is not None and not _is_empty(roi)


def _is_empty(value: Value) -> bool:
    return known_with_sizes(value) and value.static_shape == (0,)
