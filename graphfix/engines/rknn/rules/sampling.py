"""RKNN: what reads pixels at places that are computed."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.analysis.memo import kept_stepwise, operands
from graphfix.authoring.declaring import Unknown
from graphfix.engines.gridsample_nan import misreads_grids_of_nan
from graphfix.engines.profile import Target
from graphfix.engines.rknn.rules.toolkit import TOOLKIT
from graphfix.engines.rule import WRONG, Answer, rule
from graphfix.ir.views import NodeView, Value

# Images of noise up to the first side were right, and from the second on they were wrong.
_SIDES, _SIDES_OF_NEAREST, _SIDES_OF_PIXELS = (64, 96), (16, 32), (17, 32)
_ARITHMETIC = frozenset({"Add", "Div", "Mul", "Sub"})
_MOVES = frozenset({"Cast", "Concat", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"})


GRID_OF_NAN = misreads_grids_of_nan(
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
    severity=WRONG,
    source=f"{TOOLKIT}: facts/graphs.json; a grid that is computed is rounded to float16, one that"
    " is fed is not",
)
def rounded_grid(node: NodeView, target: Target) -> Answer:
    """RKNN rounds a computed GridSample grid to float16, too coarse for these samples."""
    nearest = node.attr("mode", "linear") == "nearest"
    return _computed(node) and _beyond(node, _SIDES_OF_NEAREST if nearest else _SIDES)


@rule(
    "GridSample",
    feature="form:GridSample.grid-in-pixels",
    severity=WRONG,
    source=f"{TOOLKIT}: facts/graphs.json; as numbers of pixels they are off by a hundredth of a"
    " pixel from 18 pixels on",
)
def grid_in_pixels(node: NodeView, target: Target) -> Answer:
    """RKNN rounds GridSample coordinates in pixels to float16, too coarse for this image."""
    return _computed(node) and _counts_pixels(node.need(1)) and _beyond(node, _SIDES_OF_PIXELS)


def _computed(node: NodeView) -> bool:
    grid = node.input(1)
    return grid is not None and grid.producer is not None and not known_with_sizes(grid)


def _beyond(node: NodeView, sides: tuple[int, int]) -> bool | Unknown:
    """Say whether an image is wider or higher than those that were right."""
    image = node.need(0)
    if image.shape is None:
        return Unknown(f"sizes of {image.name}")
    longest = max((side for side in image.shape[2:] if isinstance(side, int)), default=0)
    right, wrong = sides
    if right < longest < wrong:
        return Unknown(f"how steep {image.name} is")
    return longest >= wrong


@kept_stepwise(in_a_loop=False)
def _counts_pixels(grid: Value) -> Generator[Value, bool, bool]:
    """Say whether a grid is made of a sum with numbers of pixels."""
    maker = grid.producer
    if maker is None or maker.domain or maker.op not in _ARITHMETIC | _MOVES:
        return False
    given = operands(maker)
    known = [value for value in given if known_with_sizes(value)]
    if maker.op in ("Add", "Sub") and any(map(_are_pixels, known)):
        return True
    for value in given[:1] if maker.op in ("Reshape", "Squeeze", "Unsqueeze") else given:
        if value not in known and (yield value):
            return True
    return False


def _are_pixels(known: Value) -> bool:
    """Say whether a tensor that is known has numbers beyond 16, or a range that is computed."""
    array = known.array()
    if array is not None:
        return array.dtype.kind in "fiu" and bool((np.abs(array) >= _SIDES_OF_PIXELS[0]).any())
    return _has_range(known)


@kept_stepwise(in_a_loop=False)
def _has_range(value: Value) -> Generator[Value, bool, bool]:
    """Say whether a Range has a part in a tensor."""
    maker = value.producer
    if maker is None or maker.op == "Range":
        return maker is not None
    for operand in operands(maker):
        if (yield operand):
            return True
    return False
