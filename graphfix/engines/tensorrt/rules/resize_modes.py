"""Resize and Upsample up to 7.2: which linear Resize each version takes, and what it computes.

Sources: builtin_op_importers.cpp of the branches 5.1, 6.0, 6.0-full-dims, 7.0, 7.1 and of 7.2.1.
"""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.rule_makers import refuses_types
from graphfix.engines.tensorrt.rules.parsed import opset_of
from graphfix.engines.tensorrt.rules.resizing import sizes_of
from graphfix.ir.views import NodeView

_ASYMMETRIC = (
    'Assertion failed: (transformationMode == "asymmetric") && '
    '"This version of TensorRT only supports asymmetric resize!"'
)
_FLOOR = '"This version of TensorRT only supports floor nearest_mode!"'
_FOUR = (
    '"This version of TensorRT only supports asymmetric, align_corners, half_pixel, and '
    'pytorch_half_pixel resize!"'
)
_PIXEL = ("half_pixel", "pytorch_half_pixel")
# (interpolation, whether sizes are given) -> coordinate modes of 7.2.1, and its text.
_TABLE = {
    ("nearest", False): (
        ("asymmetric",),
        '"TensorRT only supports asymmetric tranformation mode for nearest neighbor resizes when '
        'scales are provided!"',
    ),
    ("linear", False): (
        ("asymmetric", *_PIXEL),
        '"TensorRT only supports half pixel, pytorch half_pixel, and asymmetric tranformation mode '
        'for linear resizes when scales are provided!"',
    ),
    ("nearest", True): (
        ("asymmetric", "align_corners"),
        '"TensorRT only supports asymmetric and align_corners transformation modes for nearest '
        'neighbor resizes when sizes are provided!"',
    ),
    ("linear", True): (
        ("align_corners", *_PIXEL),
        '"TensorRT only supports half_pixel, pytorch_half_pixel, and align_corners transofmration '
        'modes for linear resizes when sizes are provided!"',
    ),
}


def _coordinates(node: NodeView) -> str:
    return str(node.attr("coordinate_transformation_mode", "half_pixel"))


def _mode(node: NodeView) -> str:
    return str(node.attr("mode", "nearest"))


@rule(
    "Resize",
    feature="attr:Resize.coordinate_transformation_mode",
    versions="trt7.0",
    severity=REJECT,
    text=_ASYMMETRIC,
    source="builtin_op_importers.cpp:2428-2448 (7.0)",
)
def resize_asymmetric_only(node: NodeView, target: Target) -> Answer:
    """TensorRT supports Resize-11 with asymmetric coordinates only."""
    mode = _coordinates(node)
    if opset_of(node) < 11 or mode == "asymmetric":
        return None
    return Yes(feature=f"attr:Resize.coordinate_transformation_mode={mode}")


@rule(
    "Resize",
    feature="attr:Resize.coordinate_transformation_mode",
    versions="trt7.1..trt7",
    severity=REJECT,
    text=_FOUR,
    source="builtin_op_importers.cpp:2549-2588 (7.1), 2604-2644 (7.2.1)",
)
def resize_coordinates_7(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support this coordinate_transformation_mode of Resize-11."""
    mode = _coordinates(node)
    if opset_of(node) < 11:
        return None
    feature = f"attr:Resize.coordinate_transformation_mode={mode}"
    if mode not in ("asymmetric", "align_corners", *_PIXEL):
        return Yes(feature=feature)
    known = _TABLE.get((_mode(node), sizes_of(node) is not None))
    if known is None or mode in known[0]:
        return None
    if target.level >= (7, 2):
        return Yes(feature=feature, text=known[1])
    return Yes(
        feature=feature,
        severity=WRONG,
        message=f"TensorRT accepts {mode} coordinates of Resize but computes different ones",
    )


@rule(
    "Resize",
    feature="attr:Resize.nearest_mode",
    versions="trt7.0..trt7",
    severity=REJECT,
    text=_FLOOR,
    source="builtin_op_importers.cpp:2436 (7.0), 2560 (7.1)",
)
def resize_floor_only(node: NodeView, target: Target) -> Answer:
    """TensorRT supports nearest_mode floor of nearest Resize-11 only."""
    if opset_of(node) < 11 or _mode(node) != "nearest":
        return None
    found = node.attr("nearest_mode", "round_prefer_floor")
    return found != "floor" and Yes(feature=f"attr:Resize.nearest_mode={found}")


@rule(
    ("Resize", "Upsample"),
    feature="rank:Resize.linear",
    versions="trt6-fulldims..trt7.0",
    severity=REJECT,
    text="Assertion failed: (nbDims >= 1) && (nbDims <= 3)",
    source="builtin_op_importers.cpp:2079-2087, 2142-2150 (6.0-full-dims), 3276-3285 (7.0)",
)
def linear_of_rank_4(node: NodeView, target: Target) -> Answer:
    """TensorRT supports linear {op} of at most three dimensions."""
    if _mode(node) == "nearest" or (node.op == "Resize" and target.level >= (7, 0)):
        return None
    data = node.need(0)
    if data.rank is None:
        return Unknown(f"rank of {data.name}")
    return data.rank > 3 and Yes(feature=f"rank:{node.op}.linear")


@rule(
    "Upsample",
    feature="attr:Upsample.mode",
    versions="trt5.1",
    severity=REJECT,
    text='Assertion failed: mode == "nearest"',
    source="builtin_op_importers.cpp:1998-2035 (5.1)",
)
def upsample_nearest_only(node: NodeView, target: Target) -> Answer:
    """TensorRT supports Upsample mode nearest only."""
    mode = _mode(node)
    return mode != "nearest" and Yes(feature=f"attr:Upsample.mode={mode}")


@rule(
    "Upsample",
    feature="attr:Upsample.mode",
    versions="trt6..trt7",
    severity=REJECT,
    text='Assertion failed: mode == "nearest" || mode == "linear"',
    source="builtin_op_importers.cpp:3534 (7.1)",
)
def upsample_mode_7(node: NodeView, target: Target) -> Answer:
    """TensorRT supports Upsample modes nearest and linear only."""
    mode = _mode(node)
    return mode not in ("nearest", "linear") and Yes(feature=f"attr:Upsample.mode={mode}")


@rule(
    "Upsample",
    feature="attr:Upsample.mode=linear",
    versions="trt7.1..trt7",
    severity=WRONG,
    source="builtin_op_importers.cpp:3494-3549 (7.1): setAlignCorners is never called",
)
def upsample_linear_shifted(node: NodeView, target: Target) -> Answer:
    """TensorRT computes linear Upsample with half-pixel coordinates; ONNX: asymmetric."""
    return _mode(node) == "linear"


resize_types_7 = refuses_types(
    "resize-types-7",
    ("Resize", "Upsample"),
    ("int32", "int64", "bool"),
    versions="trt7.1..trt7",
    text="This version of TensorRT does not support INT32 or BOOL input for the Resize operator.",
    source="builtin_op_importers.cpp:2538, 3498 (7.1)",
)
