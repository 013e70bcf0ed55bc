"""Errors along the depth of a model, as points for the template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphfix.proving.layers.comparison import Layer
from graphfix.rendering.plotting import HEIGHT, WIDTH, grid_lines, points_of
from graphfix.rendering.style import printable
from graphfix.rendering.wording import number
from graphfix.report import Verdict


@dataclass(frozen=True, slots=True)
class Point:
    """One tensor; `wrong` where it differs."""

    x: float
    y: float
    title: str
    wrong: bool


@dataclass(frozen=True, slots=True)
class Plot:
    """Points, lines of the scale with their labels, and the size of the whole."""

    width: int
    height: int
    points: tuple[Point, ...]
    lines: tuple[tuple[float, str], ...]


def plotted(layers: Sequence[Layer]) -> Plot | None:
    """Return the plot of tensors inside of two models; None where there are none."""
    if not layers:
        return None
    return Plot(
        WIDTH,
        HEIGHT,
        tuple(
            Point(
                round(x, 1),
                round(y, 1),
                printable(f"{layer.name} ({layer.node.op}): {number(layer.max_rel)}"),
                layer.status is not Verdict.EQUAL,
            )
            for layer, (x, y) in zip(layers, points_of(layers), strict=True)
        ),
        tuple((round(y, 1), label) for y, label in grid_lines(layers)),
    )
