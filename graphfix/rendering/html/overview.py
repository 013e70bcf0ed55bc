"""A whole graph as a map: small boxes in columns, read like a newspaper, changed ones coloured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, sqrt

from onnx import GraphProto

from graphfix.rendering.html.layout import Edge, Layout, laid_out
from graphfix.rendering.style import printable

_WIDE, _HIGH, _ACROSS, _DOWN = 26, 8, 30, 13
_LETTERS = 10
_MARGIN = 26
_SHAPE = 1.0  # of the map, height by width


@dataclass(frozen=True, slots=True)
class Spot:
    """A node on the map.

    Attributes:
        index: Its place in the graph.
        x: Of its left.
        y: Of its top.
        mark: ``fixed``, ``changed``, ``left`` or empty.
        link: The card that tells of it; empty where none does.
        op: The operator, cut to what fits.
        title: Operator and name.
    """

    index: int
    x: int
    y: int
    mark: str
    link: str
    op: str
    title: str


@dataclass(frozen=True, slots=True)
class Overview:
    """The map of a graph.

    Attributes:
        width: In its own units.
        height: In the same.
        spots: The nodes.
        path: All edges.
        prefix: What the ids of nodes begin with.
        legend: What the marks mean.
    """

    width: int
    height: int
    spots: tuple[Spot, ...]
    path: str
    prefix: str
    legend: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """What is said of a node: how it is coloured, and the card that tells more."""

    kind: str
    link: str


def overview(
    graph: GraphProto, marks: Mapping[int, Mark], prefix: str = "n", **legend: str
) -> Overview:
    """Return the map of a main graph.

    Args:
        graph: The graph.
        marks: What is said of nodes, by their place.
        prefix: What the ids of the nodes begin with; another one for a second map of a page.
        legend: What each kind of mark means.
    """
    edges = _edges(graph)
    placed = laid_out([float(_WIDE)] * len(graph.node), edges, _ACROSS - _WIDE, around=False)
    places, width, height = _columns(placed)
    spots = [
        Spot(
            at,
            x,
            y,
            mark.kind if mark else "",
            mark.link if mark else "",
            printable(graph.node[at].op_type)[:_LETTERS],
            _title(graph, at),
        )
        for at, (x, y) in enumerate(places)
        for mark in (marks.get(at),)
    ]
    path = "".join(_line(places[start], places[end]) for start, end in edges)
    return Overview(width, height, tuple(spots), path, prefix, tuple(legend.items()))


def _columns(placed: Layout) -> tuple[list[tuple[int, int]], int, int]:
    """Fold a long graph into columns; return where each node is, and the size of the whole."""
    rows = max(placed.layers, default=0) + 1
    mean = len(placed.layers) / rows * _ACROSS
    each = ceil(rows / max(1, round(sqrt(rows * _DOWN / (_SHAPE * (2 * mean + _MARGIN))))))
    centres: list[list[float]] = [[] for _ in range(ceil(rows / each))]
    for x, layer in zip(placed.centres, placed.layers, strict=True):
        centres[layer // each].append(x)
    shifts: list[float] = []
    at = _MARGIN / 2
    for column in centres:
        shifts.append(at - min(column, default=0.0))
        at += max(column, default=0.0) - min(column, default=0.0) + _WIDE + _MARGIN
    places = [
        (round(x + shifts[layer // each]), layer % each * _DOWN + 4)
        for x, layer in zip(placed.centres, placed.layers, strict=True)
    ]
    return places, round(at), min(each, rows) * _DOWN + 8


def _title(graph: GraphProto, at: int) -> str:
    node = graph.node[at]
    return printable(f"{node.op_type} {node.name or (node.output[0] if node.output else '')}")


def _line(start: tuple[int, int], end: tuple[int, int]) -> str:
    x, y = start[0] + _WIDE // 2, start[1] + _HIGH
    return f"M{x} {y}l{end[0] + _WIDE // 2 - x} {end[1] - y}"


def _edges(graph: GraphProto) -> list[Edge]:
    giver = {name: at for at, node in enumerate(graph.node) for name in node.output if name}
    found = (
        (giver[name], at)
        for at, node in enumerate(graph.node)
        for name in node.input
        if name in giver and giver[name] != at
    )
    return list(dict.fromkeys(found))
