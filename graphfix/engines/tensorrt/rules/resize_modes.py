"""Resize and Upsample up to 7.2: which linear Resize each version takes, and what it computes.

Sources: builtin_op_importers.cpp of the branches 5.1, 6.0, 6.0-full-dims, 7.0, 7.1 and of 7.2.1.
"""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.tensorrt.rules.parsed import opset_of
from graphfix.engines.tensorrt.rules.resizing import sizes_of
from graphfix.ir.views import NodeView

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
