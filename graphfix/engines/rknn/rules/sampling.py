"""RKNN: what reads pixels at places that are computed."""

from __future__ import annotations

import numpy as np

from graphfix.authoring.declaring import Unknown
from graphfix.authoring.views import NodeView, Value
from graphfix.engines.grids_of_nan import reads_grids_of_nan_otherwise
from graphfix.engines.known_values import known_with_sizes
from graphfix.engines.profile import Target
from graphfix.engines.rknn.rules.toolkit import TOOLKIT
from graphfix.engines.rule import WRONG, Answer, Yes, rule

_MOST = 200  # tensors that are looked at
# Images of noise of these sides were right, and those of 80, 32 and 18 were wrong.
_SIDE, _SIDE_OF_NEAREST, _SIDE_OF_PIXELS = 64, 16, 17
_ARITHMETIC = frozenset({"Add", "Div", "Mul", "Sub"})
_MOVES = frozenset({"Cast", "Concat", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"})


GRID_OF_NAN = reads_grids_of_nan_otherwise(
    {
        "cubic": frozenset({"border", "reflection", "zeros"}),
        "linear": frozenset({"border", "reflection", "zeros"}),
        "nearest": frozenset({"zeros"}),
    },
    versions="rknn",
    source="measured in the simulator of rknn-toolkit2 2.3.2: a model for each mode and padding",
)


@rule(
    "GridSample",
    feature="form:GridSample.computed-grid",
    versions="rknn",
    severity=WRONG,
    source=f"{TOOLKIT}: facts/graphs.json; a grid that is computed is rounded to float16, one that"
    " is fed is not. Places that are counted in pixels before they are made places from -1 to 1"
    " are off by more: by a hundredth of a pixel from 18 pixels on",
)
def rounded_grid(node: NodeView, target: Target) -> Answer:
    """The places that are read are rounded by so much that other numbers come."""
    image, grid = node.input(0), node.input(1)
    if image is None or grid is None or grid.producer is None or known_with_sizes(grid):
        return False
    if image.shape is None:
        return Unknown(f"sizes of {image.name}")
    sides = [side for side in image.shape[2:] if isinstance(side, int)]
    longest = max(sides, default=0)
    nearest = node.attr("mode", "linear") == "nearest"
    if longest > (_SIDE_OF_NEAREST if nearest else _SIDE):
        return True
    in_pixels = longest > _SIDE_OF_PIXELS and _counts_pixels(grid)
    return in_pixels and Yes(feature="form:GridSample.grid-in-pixels")


def _counts_pixels(grid: Value) -> bool:
    """Say whether a grid is made of a sum with numbers of pixels."""
    pending, seen = [grid], {grid}
    while pending and len(seen) < _MOST:
        maker = pending.pop().producer
        if maker is None or maker.domain or maker.op not in _ARITHMETIC | _MOVES:
            continue
        given = [value for value in maker.inputs if value is not None]
        known = [value for value in given if known_with_sizes(value)]
        if maker.op in ("Add", "Sub") and any(map(_are_pixels, known)):
            return True
        read = given[:1] if maker.op in ("Reshape", "Squeeze", "Unsqueeze") else given
        pending += [value for value in read if value not in seen and value not in known]
        seen.update(read)
    return False


def _are_pixels(known: Value) -> bool:
    """Say whether a tensor that is known has numbers beyond 16, or a range that is computed."""
    array = known.array()
    if array is not None:
        return array.dtype.kind in "fiu" and bool((np.abs(array) > _SIDE_OF_PIXELS - 1).any())
    pending, seen = [known], {known}
    while pending and len(seen) < _MOST:
        maker = pending.pop().producer
        if maker is None:
            continue
        if maker.op == "Range":
            return True
        given = [value for value in maker.inputs if value is not None and value not in seen]
        pending += given
        seen.update(given)
    return False
