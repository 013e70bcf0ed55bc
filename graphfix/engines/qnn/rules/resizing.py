"""QNN: Resize, where it is left to the CPU and where other values are read."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.qnn.rules.provider import LEFT, PROVIDER
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView

_NEAR = 1e-2  # of a place, what linear resizing may be off
_SCALED = ("Resize", "Upsample")
_ASYMMETRIC_UP_TO = 10  # the newest opset whose Resize says nothing of coordinates


@rule(
    _SCALED,
    feature="rank:{op}.*",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, resize-ranks, resize-10 and upsample",
)
def resized_rank(node: NodeView, target: Target) -> Answer:
    """QNN does not support 2D {op}, and supports nearest {op} of rank 4 only."""
    x = node.input(0)
    if x is None or (node.op == "Resize" and node.opset > _ASYMMETRIC_UP_TO and x.rank != 2):
        return None
    if x.rank is None:
        return Unknown(f"rank of {x.name}")
    if x.rank == 2 or (node.attr("mode", "nearest") == "nearest" and x.rank != 4):
        return Yes(feature=f"rank:{node.op}.{x.rank}")
    return None


@rule(
    "Resize",
    feature="attr:Resize.mode=nearest",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: of four dimensions everything else is taken",
)
def nearest(node: NodeView, target: Target) -> Answer:
    """QNN supports nearest Resize of rank 4, and asymmetric coordinates with floor only."""
    x = node.input(0)
    if node.attr("mode", "nearest") != "nearest" or x is None or node.opset < 11:
        return None
    where = node.attr("coordinate_transformation_mode", "half_pixel")
    how = node.attr("nearest_mode", "round_prefer_floor")
    if where == "asymmetric" and how != "floor":
        return True
    return Unknown(f"rank of {x.name}") if x.rank is None else x.rank != 4


@rule(
    "Resize",
    feature="form:Resize.10",
    severity=WRONG,
    source=f"{PROVIDER}: linear by 2 and by 0.5, nearest by 0.5 and by 7 / 4; nearest by 2 and by 3"
    " is right",
)
def resize_of_opset_10(node: NodeView, target: Target) -> Answer:
    """QNN computes Resize of opset 10 with half-pixel coordinates; ONNX uses asymmetric."""
    if node.opset != _ASYMMETRIC_UP_TO or _keeps_sizes(node):
        return None
    return node.attr("mode", "nearest") != "nearest" or not _by_whole_factors(node)


@rule(
    "Resize",
    feature="attr:Resize.mode=nearest",
    severity=WRONG,
    source=f"{PROVIDER}: of 5 by 6 to 9 by 13, 8 by 7 and 3 by 3, from half places and from aligned"
    " corners; to 10 by 12 they are right, unless they are rounded down",
)
def nearest_of_other_places(node: NodeView, target: Target) -> Answer:
    """QNN picks a different nearest pixel than ONNX for half-way coordinates."""
    if node.opset < 11 or node.attr("mode", "nearest") != "nearest":
        return None
    if node.attr("coordinate_transformation_mode", "half_pixel") == "asymmetric":
        return None
    how = node.attr("nearest_mode", "round_prefer_floor")
    return how != "round_prefer_floor" or not _by_whole_factors(node)


@rule(
    _SCALED,
    feature="form:Resize.scales",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, resize-scales, resize-10 and upsample: 5 by 1.8, 10 by"
    " 0.7 and 20 by 2.3 are such, which are whole in float32 and less otherwise",
)
def scale_that_falls_short(node: NodeView, target: Target) -> Answer:
    """QNN computes the output size of {op} in float64, and it falls short of ONNX's."""
    known = _scaled(node)
    if known is None:
        return None
    return any(int(size * scale) != end for size, scale, end in known) and Yes(
        feature=_of_scales(node)
    )


@rule(
    _SCALED,
    feature="form:Resize.scales",
    severity=WRONG,
    source=f"{PROVIDER}: facts/asked.json, resize-scales and upsample: 3 by 1.8 makes 5, of which"
    " the scale is 5 / 3",
)
def scale_of_the_sizes(node: NodeView, target: Target) -> Answer:
    """QNN recomputes the scales of {op} from the sizes, which differ from the given ones."""
    known = _scaled(node)
    if known is None or node.attr("coordinate_transformation_mode", "") == "align_corners":
        return None
    if _keeps_sizes(node):
        return None
    if node.op == "Resize" and node.opset <= _ASYMMETRIC_UP_TO:
        return None  # `resize_of_opset_10` judges it
    nearest = node.attr("mode", "nearest") == "nearest"
    return any(_reads_others(*axis, nearest=nearest) for axis in known) and Yes(
        feature=_of_scales(node)
    )


def _reads_others(size: int, scale: float, end: int, *, nearest: bool) -> bool:
    """Say whether the scale that is computed again leads to other places of an axis."""
    places = np.arange(end, dtype=np.float32)
    meant, found = places / np.float32(scale), places * np.float32(size / end)
    if nearest:
        return not np.array_equal(np.floor(meant), np.floor(found))
    last = size - 1  # what lies beyond the last element is that
    apart = np.abs(np.minimum(meant, last) - np.minimum(found, last))
    return float(apart.max(initial=0)) > _NEAR


def _of_scales(node: NodeView) -> str:
    """Return the feature of a node that gives its scales."""
    if node.op == "Upsample":
        return "op:Upsample"
    return "form:Resize.10" if node.opset <= _ASYMMETRIC_UP_TO else "form:Resize.scales"


def _keeps_sizes(node: NodeView) -> bool:
    """Say whether the tensor is as large as it was: it is given as it is, then."""
    x, y = node.input(0), node.output(0)
    known = None if x is None else x.static_shape
    return known is not None and y is not None and y.static_shape == known


def _by_whole_factors(node: NodeView) -> bool:
    """Say whether every size becomes a multiple of itself."""
    x, y = node.input(0), node.output(0)
    before = None if x is None else x.static_shape
    after = None if y is None else y.static_shape
    if before is None or after is None or not all(before):
        return False
    return all(end % size == 0 for size, end in zip(before, after, strict=True))


def _scaled(node: NodeView) -> list[tuple[int, float, int]] | None:
    """Return the size, the scale and the size after it of each axis, where scales are given."""
    x, y, by = node.input(0), node.output(0), _scales(node)
    if x is None or y is None or by is None or node.attr("axes", ()):
        return None
    before, after = x.static_shape, y.static_shape
    if before is None or after is None or by.size != len(before):
        return None
    return [(a, float(s), b) for a, s, b in zip(before, by, after, strict=True)]


def _scales(node: NodeView) -> np.ndarray[Any, Any] | None:
    """Return the scales, where they are given and known."""
    if node.has("scales"):
        return np.array(node.attr("scales"), np.float32)
    modern = node.op == "Resize" and node.opset > _ASYMMETRIC_UP_TO
    given = node.input(2 if modern else 1)
    return None if given is None else given.array()
