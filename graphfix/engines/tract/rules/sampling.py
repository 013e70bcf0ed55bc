"""tract: what reads pixels at places that are computed."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.gridsample_nan import misreads_grids_of_nan
from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, rule
from graphfix.ir.views import NodeView

_NUMBERED_FROM = 11  # of this opset on the region comes before the scales

GRID_OF_NAN = misreads_grids_of_nan(
    {
        "linear": frozenset({"border", "reflection", "zeros"}),
    },
    versions="tract",
    source="measured on 0.23.9: facts/asked.json, grid-of-nan",
)


@rule(
    "Resize",
    feature="form:Resize.scales",
    severity=WRONG,
    source="measured on 0.23.9: linear, nearest and cubic, 15 by 0.5, 7 by 1.5 and 7 by 0.7; 8 by"
    " 0.5 and 1.5 is right, and so are sizes in the place of scales, and other coordinates",
)
def corners_of_a_part(node: NodeView, target: Target) -> Answer:
    """tract aligns corners by the size times the scale, though that is no integer."""
    scales = node.input(2) if node.opset >= _NUMBERED_FROM else None
    if node.attr("coordinate_transformation_mode", "half_pixel") != "align_corners":
        return False
    factors = None if scales is None else scales.array()
    data = node.need(0)
    if factors is None or not factors.size:
        return False
    parts = [axis for axis, factor in enumerate(factors) if factor != int(factor)]
    sizes = [data.dim(axis) for axis in (node.attr("axes") or range(len(factors)))]
    if any(sizes[axis] is None for axis in parts):
        return Unknown(f"sizes of {data.name}")
    return any(float(sizes[axis] or 0) * float(factors[axis]) % 1 != 0 for axis in parts)
