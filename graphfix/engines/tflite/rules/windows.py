"""TFLite: padding, pooling and resizing."""

from __future__ import annotations

import numpy as np

from graphfix.authoring.declaring import Unknown
from graphfix.authoring.views import NodeView
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.tflite.rules import MEASURED

_SCALES_THIRD = 11  # the opset from which on the scales of Resize are its third input
_MODE = "coordinate_transformation_mode"


@rule(
    ("AveragePool", "MaxPool"),
    feature="attr:{op}.auto_pad",
    versions="tflite",
    severity=WRONG,
    source=f"{MEASURED}: SAME_UPPER is equal",
)
def pool_padded_before(node: NodeView, target: Target) -> Answer:
    """Pads that are automatic and stand before the window give an output of other sizes."""
    return bool(node.attr("auto_pad", "NOTSET") == "SAME_LOWER")


@rule(
    ("Conv", "ConvTranspose"),
    feature="attr:{op}.auto_pad",
    versions="tflite",
    severity=REJECT,
    text="Invalid auto_pad attribute: SAME_LOWER",
    source=MEASURED,
)
def convolution_padded_before(node: NodeView, target: Target) -> Answer:
    """Pads that are automatic and stand before the window are not taken."""
    return bool(node.attr("auto_pad", "NOTSET") == "SAME_LOWER")


@rule(
    "MaxPool",
    feature="form:MaxPool.indices",
    versions="tflite",
    severity=WRONG,
    source=MEASURED,
)
def pool_indices(node: NodeView, target: Target) -> Answer:
    """The places of the maxima are counted otherwise."""
    return len(node.outputs) > 1 and node.outputs[1] is not None


@rule(
    "Pad",
    feature="form:Pad.axes",
    versions="tflite",
    severity=REJECT,
    text="cannot reshape array of size 2 into shape (2,3)",
    source=f"{MEASURED}; pads for all axes are taken",
)
def pad_of_some_axes(node: NodeView, target: Target) -> Answer:
    """The input that names the axes of pads is not read."""
    return node.input(3) is not None


@rule(
    "Pad",
    feature="attr:Pad.mode=wrap",
    versions="tflite",
    severity=REJECT,
    text="Value of argument `mode` expected",
    source=MEASURED,
)
def pad_around(node: NodeView, target: Target) -> Answer:
    """What stands at the other end is not taken for a pad."""
    return bool(node.attr("mode", "constant") == "wrap")


@rule(
    "Resize",
    feature="attr:Resize.mode=cubic",
    versions="tflite",
    severity=WRONG,
    source=f"{MEASURED}: all numbers differ, up to 0.48 of 2",
)
def resize_cubic(node: NodeView, target: Target) -> Answer:
    """Cubic Resize weighs its neighbours otherwise."""
    return bool(node.attr("mode", "nearest") == "cubic")


@rule(
    "Resize",
    feature="attr:Resize.coordinate_transformation_mode",
    versions="tflite",
    severity=REJECT,
    source=MEASURED,
)
def resize_of_a_part(node: NodeView, target: Target) -> Answer:
    """Resize of a region of interest is not converted."""
    if node.attr(_MODE, "half_pixel") != "tf_crop_and_resize":
        return None
    return Yes(feature=f"attr:Resize.{_MODE}=tf_crop_and_resize")


@rule(
    "Resize",
    feature="attr:Resize.nearest_mode",
    versions="tflite",
    severity=WRONG,
    source=f"{MEASURED}: ceil of asymmetric; floor and round_prefer_floor are equal",
)
def resize_rounded_up(node: NodeView, target: Target) -> Answer:
    """Nearest Resize that rounds up takes the neighbour below."""
    how = node.attr("nearest_mode", "round_prefer_floor")
    nearest = node.attr("mode", "nearest") == "nearest"
    up = nearest and how in ("ceil", "round_prefer_ceil")
    return up and Yes(feature=f"attr:Resize.nearest_mode={how}")


@rule(
    ("Resize", "Upsample"),
    feature="form:{op}.10",
    versions="tflite",
    severity=WRONG,
    source=f"{MEASURED}: from opset 11 on asymmetric linear Resize is equal",
)
def linear_of_opset_10(node: NodeView, target: Target) -> Answer:
    """Linear Resize and Upsample before opset 11 are computed as if pixels had centres."""
    return node.opset < _SCALES_THIRD and node.attr("mode", "nearest") == "linear"


@rule(
    ("Resize", "Upsample"),
    feature="form:{op}.nearest",
    versions="tflite",
    severity=WRONG,
    source=f"{MEASURED}: facts/graphs.json; asymmetric Resize that rounds down is equal",
)
def nearest_of_opset_10(node: NodeView, target: Target) -> Answer:
    """Nearest Resize and Upsample before opset 11 by no whole number take other neighbours."""
    scales = node.input(1)
    if node.opset >= _SCALES_THIRD or node.attr("mode", "nearest") != "nearest" or scales is None:
        return None
    factors = scales.array()
    if factors is None:
        return Unknown(f"values of {scales.name}")
    return bool((factors != np.floor(factors)).any())


@rule(
    "Resize",
    feature="attr:Resize.coordinate_transformation_mode",
    versions="tflite",
    severity=WRONG,
    source=f"{MEASURED}: scale 1.5 of 5; 1.5 of 4 is equal",
)
def resize_by_part_of_a_pixel(node: NodeView, target: Target) -> Answer:
    """Where a scale gives no whole size, the ratio of the sizes is taken in its place."""
    place = 1 if node.opset < _SCALES_THIRD else 2
    x, scales = node.input(0), node.input(place)
    mode = node.attr(_MODE, "half_pixel")
    if x is None or scales is None or scales.shape == (0,) or mode == "align_corners":
        return None
    factors = scales.array()
    if factors is None or not factors.size or node.input(3) is not None:
        return None
    if x.static_shape is None:
        whole = bool(np.all(factors == np.floor(factors)))
        return None if whole else Unknown(f"sizes of {x.name}")
    sizes = np.asarray(x.static_shape) * factors
    broken = bool(np.any(np.abs(sizes - np.round(sizes)) > 1e-4))
    return broken and Yes(feature=f"attr:Resize.{_MODE}={mode}")


@rule(
    "GridSample",
    feature="attr:GridSample.mode=cubic",
    versions="tflite",
    severity=REJECT,
    source=f"{MEASURED}: facts/graphs.json; linear and nearest are equal with every padding",
)
def grid_sample_cubic(node: NodeView, target: Target) -> Answer:
    """Cubic sampling is not converted."""
    return node.attr("mode", "linear") in ("bicubic", "cubic")
