"""A sketch as a picture: boxes, curves and labels with their places, for the template."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import log10

from graphfix.rendering.html.layout import Edge, laid_out
from graphfix.rendering.html.sketch import Sketch, SketchNode

_WIDE = 6.1  # a character of the font of the drawings, at its size
_MOST = 30
_PAD, _GAP, _BOX, _LABEL, _BETWEEN = 16, 14, 34, 14, 30
_SMALLEST = 48
_BAR = 8.0  # the width of a weight's bar for each power of ten of its bytes


@dataclass(frozen=True, slots=True)
class Box:
    """A node with its place.

    Attributes:
        x: Of its left.
        y: Of its top.
        width: Of the box.
        kind: As in a sketch.
        op: The first line.
        detail: The second line.
        title: Both as they are, where they were cut.
        bar: How wide the weight is drawn; 0 for what is no weight.
    """

    x: int
    y: int
    width: int
    kind: str
    op: str
    detail: str
    title: str
    bar: int


@dataclass(frozen=True, slots=True)
class Label:
    """What is said of a tensor, below what gives it."""

    x: int
    y: int
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes, the curves between them, and labels; sizes in pixels."""

    width: int
    height: int
    boxes: tuple[Box, ...]
    curves: tuple[str, ...]
    labels: tuple[Label, ...]
    left_out: int

    @property
    def summary(self) -> str:
        """The operators, for those who do not see it."""
        many = Counter(box.op for box in self.boxes)
        return ", ".join(op if number == 1 else f"{number} {op}" for op, number in many.items())


def drawn(sketch: Sketch) -> Picture:
    """Return a picture of one side of a site."""
    nodes = sketch.nodes
    edges = _edges(nodes)
    widths = [_width(node) for node in nodes]
    placed = laid_out([float(width) for width in widths], edges, _GAP)
    tops, heights = _rows(nodes, placed.layers)
    boxes = [
        _box(node, round(x - width / 2), tops[layer], width)
        for node, x, width, layer in zip(nodes, placed.centres, widths, placed.layers, strict=True)
    ]
    labels = [
        Label(round(x), tops[layer] + _BOX + _LABEL * (line + 1) - 3, _cut(label))
        for node, x, layer in zip(nodes, placed.centres, placed.layers, strict=True)
        for line, (_, label) in enumerate(node.gives)
        if label
    ]
    curves = [
        _curve(
            [
                (
                    placed.centres[start],
                    tops[placed.layers[start]] + _BOX + _labelled_height(nodes[start]),
                ),
                *(
                    (x, tops[placed.layers[start] + step] + _BOX / 2)
                    for step, x in enumerate(way, start=1)
                ),
                (placed.centres[end], tops[placed.layers[end]]),
            ]
        )
        for (start, end), way in zip(edges, placed.ways, strict=True)
    ]
    return Picture(
        round(placed.width) + 2,
        sum(heights) - _BETWEEN + 2,
        tuple(boxes),
        tuple(dict.fromkeys(curves)),
        tuple(labels),
        sketch.left_out,
    )


def _edges(nodes: tuple[SketchNode, ...]) -> list[Edge]:
    giver = {name: at for at, node in enumerate(nodes) for name, _ in node.gives}
    found = (
        (giver[name], at)
        for at, node in enumerate(nodes)
        for name in node.reads
        if name in giver and giver[name] != at
    )
    return list(dict.fromkeys(found))


def _rows(nodes: tuple[SketchNode, ...], layers: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Return where each layer begins, and how high it is."""
    heights = [_BOX + _BETWEEN] * (max(layers, default=0) + 1)
    for node, layer in zip(nodes, layers, strict=True):
        heights[layer] = max(heights[layer], _BOX + _BETWEEN + _labelled_height(node))
    tops = [1]
    for height in heights:
        tops.append(tops[-1] + height)
    return tops, heights


def _labelled_height(node: SketchNode) -> int:
    lines = [line for line, (_, label) in enumerate(node.gives) if label]
    return _LABEL * (lines[-1] + 1) if lines else 0


def _width(node: SketchNode) -> int:
    labels = [text for _, text in node.gives]
    longest = max(len(_cut(text)) for text in (node.op, node.detail, *labels))
    return round(max(_SMALLEST, longest * _WIDE + _PAD))


def _box(node: SketchNode, x: int, y: int, width: int) -> Box:
    bar = 0
    if node.kind == "weight":
        bar = min(round(_BAR * max(1.0, log10(node.bytes + 1) + 1)), width)
    cut = _cut(node.op), _cut(node.detail)
    whole = "" if cut == (node.op, node.detail) else f"{node.op} {node.detail}"
    return Box(x + 1, y, width, node.kind, *cut, whole, bar)


def _curve(points: list[tuple[float, float]]) -> str:
    """Return a path that leaves and reaches each point upright."""
    (x, y), *rest = points
    parts = [f"M{round(x) + 1} {round(y)}"]
    for nx, ny in rest:
        if round(nx) == round(x):
            parts.append(f"V{round(ny)}")
        else:
            mid = round((y + ny) / 2)
            parts.append(f"C{round(x) + 1} {mid} {round(nx) + 1} {mid} {round(nx) + 1} {round(ny)}")
        x, y = nx, ny
    return "".join(parts)


def _cut(text: str) -> str:
    return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"
