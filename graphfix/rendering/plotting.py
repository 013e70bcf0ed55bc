"""The error of each tensor along the depth of a model, as a picture."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from html import escape
from math import ceil, floor, isfinite, log10
from pathlib import Path
from typing import Any

from graphfix.errors import UsageError
from graphfix.proving.layers.comparison import Comparison, Layer
from graphfix.report import Verdict

WIDTH, HEIGHT = 900, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 20, 40, 50
_FLOOR = 1e-18
_TITLE = "Largest error of each tensor, relative to its magnitude"


def write_plot(path: Path, found: Comparison) -> None:
    """Write the plot; the ending says the format: .svg, or .png with matplotlib.

    Raises:
        UsageError: There is nothing to draw, matplotlib is missing, or the file cannot be written.
    """
    if not found.layers:
        reason = found.layers_reason or "the models have no tensor inside in common"
        raise UsageError(f"nothing to draw: {reason}", where="--plot")
    try:
        if path.suffix.lower() == ".png":
            _write_png(path, found.layers)
        else:
            path.write_text(svg(found.layers), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", where=str(path)) from error


def svg(layers: Sequence[Layer]) -> str:
    """Return the plot: depth to the right, the relative error upwards in powers of ten.

    A tensor without an error lies on the lowest line, one without a number (another shape, NaN)
    on the highest.
    """
    deepest = max(1, *(layer.depth for layer in layers))
    points = points_of(layers)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="24" font-size="14">{_TITLE}</text>',
        *_grid(layers),
        f'<text x="{WIDTH // 2}" y="{HEIGHT - 10}">depth (0 to {deepest})</text>',
        '<polyline fill="none" stroke="#999" points="'
        + " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        + '"/>',
        *(_dot(layer, x, y) for layer, (x, y) in zip(layers, points, strict=True)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _decades(layers: Sequence[Layer]) -> tuple[int, int]:
    """Return the powers of ten that hold all errors, one empty one below them."""
    known = [layer.max_rel for layer in layers if layer.max_rel is not None]
    sizes = [value for value in known if isfinite(value) and value > _FLOOR]
    if not sizes:
        return -8, 0
    low, high = floor(log10(min(sizes))) - 1, ceil(log10(max(sizes)))
    return low, max(high, low + 1)


def _x(depth: int, deepest: int) -> float:
    return _LEFT + (WIDTH - _LEFT - _RIGHT) * depth / deepest


def _height(power: float, low: int, high: int) -> float:
    share = (power - low) / (high - low)
    return HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * share


def _y(layer: Layer, low: int, high: int) -> float:
    if layer.max_rel is None or not isfinite(layer.max_rel):
        return _height(high, low, high)
    power = log10(layer.max_rel) if layer.max_rel > _FLOOR else low
    return _height(min(max(power, low), high), low, high)


def points_of(layers: Sequence[Layer]) -> list[tuple[float, float]]:
    """Return where each tensor is in a plot of `WIDTH` by `HEIGHT`."""
    low, high = _decades(layers)
    deepest = max(1, *(layer.depth for layer in layers))
    return [(_x(layer.depth, deepest), _y(layer, low, high)) for layer in layers]


def grid_lines(layers: Sequence[Layer]) -> list[tuple[float, str]]:
    """Return the heights of the powers of ten that are named, and their names."""
    low, high = _decades(layers)
    powers = range(low, high + 1, max(1, (high - low) // 8))
    return [(_height(p, low, high), "0" if p == low else f"1e{p}") for p in powers]


def _grid(layers: Sequence[Layer]) -> list[str]:
    lines: list[str] = []
    for y, label in grid_lines(layers):
        lines.append(
            f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
        )
        lines.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    return lines


def _dot(layer: Layer, x: float, y: float) -> str:
    wrong = layer.status is not Verdict.EQUAL
    colour, radius = ("#c00", 4) if wrong else ("#06c", 2)
    error = "no number" if layer.max_rel is None else f"{layer.max_rel:.3g}"
    said = "".join(c if c.isprintable() else "?" for c in f"{layer.name} ({layer.node.op})")
    title = escape(f"{said}: {error}")
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}">'
        f"<title>{title}</title></circle>"
    )


def _write_png(path: Path, layers: Sequence[Layer]) -> None:
    try:
        figures: Any = importlib.import_module("matplotlib.figure")
    except ImportError:
        raise UsageError(
            "a .png needs matplotlib",
            where=str(path),
            hint="pip install 'graphfix[plot]', or write a .svg",
        ) from None
    low, high = _decades(layers)
    figure = figures.Figure(figsize=(WIDTH / 100, HEIGHT / 100), dpi=100)
    axes = figure.add_subplot()
    values = [
        10.0**high if layer.max_rel is None else min(max(layer.max_rel, 10.0**low), 10.0**high)
        for layer in layers
    ]
    depths = [layer.depth for layer in layers]
    colours = ["#06c" if layer.status is Verdict.EQUAL else "#c00" for layer in layers]
    axes.plot(depths, values, color="#999", linewidth=1)
    axes.scatter(depths, values, c=colours, s=12, zorder=3)
    axes.set_yscale("log")
    axes.set_title(_TITLE)
    axes.set_xlabel("depth")
    figure.savefig(path, format="png")
