"""QNN: Resize, where it is left to the CPU and where other numbers are read."""

from __future__ import annotations

import numpy as np

from graphfix.authoring.declaring import Unknown
from graphfix.authoring.views import NodeView
from graphfix.engines.profile import Target
from graphfix.engines.qnn.rules.provider import LEFT, PROVIDER
from graphfix.engines.rule import REJECT, WRONG, Answer, rule

_NEAR = 1e-2  # of a place, what linear resizing may be off


@rule(
    "Resize",
    feature="attr:Resize.mode=nearest",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: of four dimensions all else is taken",
)
def nearest(node: NodeView, target: Target) -> Answer:
    """Resize to the nearest takes four dimensions, and rounds asymmetric places down alone."""
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
    feature="rank:Resize.5",
    versions="qnn",
    severity=WRONG,
    source=f"{PROVIDER}: of four dimensions it is right",
)
def resized_in_three_dimensions(node: NodeView, target: Target) -> Answer:
    """Linear resizing in three dimensions gives other numbers."""
    x = node.input(0)
    return x is not None and x.rank == 5


@rule(
    "Resize",
    feature="form:Resize.10",
    versions="qnn",
    severity=WRONG,
    source=f"{PROVIDER}: linear by 2 and by 0.5, nearest by 0.5 and by 7 / 4; nearest by 2 and by 3"
    " is right",
)
def resize_of_opset_10(node: NodeView, target: Target) -> Answer:
    """Resize of opset 10 takes other elements, as if pixels stood at half places."""
    if node.opset != 10:
        return None
    return node.attr("mode", "nearest") != "nearest" or not _by_whole_factors(node)


@rule(
    "Resize",
    feature="attr:Resize.mode=nearest",
    versions="qnn",
    severity=WRONG,
    source=f"{PROVIDER}: of 5 by 6 to 9 by 13, 8 by 7 and 3 by 3, from half places and from aligned"
    " corners; to 10 by 12 they are right, unless they are rounded down",
)
def nearest_of_other_places(node: NodeView, target: Target) -> Answer:
    """The nearest of places between pixels is another one."""
    if node.opset < 11 or node.attr("mode", "nearest") != "nearest":
        return None
    if node.attr("coordinate_transformation_mode", "half_pixel") == "asymmetric":
        return None
    how = node.attr("nearest_mode", "round_prefer_floor")
    return how != "round_prefer_floor" or not _by_whole_factors(node)


@rule(
    "Resize",
    feature="form:Resize.scales",
    versions="qnn",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: 5 by 1.8, which is 9 in float32 and less than 9 otherwise",
)
def scale_that_falls_short(node: NodeView, target: Target) -> Answer:
    """A size by its scale, in float64, is less than the size that is meant."""
    known = _scaled(node)
    if known is None:
        return None
    return any(int(size * scale) != end for size, scale, end in known)


@rule(
    "Resize",
    feature="form:Resize.scales",
    versions="qnn",
    severity=WRONG,
    source=f"{PROVIDER}: 3 by 1.8 makes 5, of which the scale is 5 / 3",
)
def scale_of_the_sizes(node: NodeView, target: Target) -> Answer:
    """The scales are computed again from the sizes, which gives others."""
    known = _scaled(node)
    if known is None or node.attr("coordinate_transformation_mode", "") == "align_corners":
        return None
    for size, scale, end in known:
        places = np.arange(end)
        meant, found = places / np.float32(scale), places * (size / end)
        if node.attr("mode", "nearest") == "nearest":
            if not np.array_equal(np.floor(meant), np.floor(found)):
                return True
        elif float(np.abs(meant - found).max(initial=0)) > _NEAR:
            return True
    return None


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
    x, y, scales = node.input(0), node.output(0), node.input(2)
    if x is None or y is None or scales is None or node.opset < 11 or node.attr("axes", ()):
        return None
    by, before, after = scales.array(), x.static_shape, y.static_shape
    if by is None or before is None or after is None or by.size != len(before):
        return None
    return [(a, float(s), b) for a, s, b in zip(before, by, after, strict=True)]
