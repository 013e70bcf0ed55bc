"""Places for the nodes of a graph: in layers, each below all that it reads.

Linear in nodes and edges but for sorting, so that whole networks are placed too, and the same for
the same graph each time. Of the libraries that were tried, grandalf 0.8 takes 1.0 s for the 340
nodes of a BERT and 20 s for the 1,294 of a Swin; what runs in the page (dagre, elkjs) would leave a
page without a script, and a test without a browser, nothing to look at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Edge = tuple[int, int]
_SWEEPS = 4
_ROUNDS = 6


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the nodes of a graph are.

    Attributes:
        centres: For each node its x.
        layers: For each node its layer, 0 at the top.
        width: Of the widest layer.
        ways: For each edge the x at which it crosses each layer between its ends.
    """

    centres: tuple[float, ...]
    layers: tuple[int, ...]
    width: float
    ways: tuple[tuple[float, ...], ...]


def depths(count: int, edges: Sequence[Edge]) -> tuple[int, ...]:
    """Return for each node how many nodes at most lie before it; edges of a circle are left out."""
    followers: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for start, end in edges:
        followers[start].append(end)
        waiting[end] += 1
    found = [0] * count
    ready = [node for node in range(count) if not waiting[node]]
    for node in ready:
        for follower in followers[node]:
            found[follower] = max(found[follower], found[node] + 1)
            waiting[follower] -= 1
            if not waiting[follower]:
                ready.append(follower)
    # What reads nothing is just above its first reader, not at the top.
    for node in range(count):
        if not found[node] and followers[node]:
            found[node] = max(0, min(found[follower] for follower in followers[node]) - 1)
    return tuple(found)


def laid_out(
    widths: Sequence[float], edges: Sequence[Edge], gap: float, *, around: bool = True
) -> Layout:
    """Place a graph.

    Args:
        widths: Of each node.
        edges: Pairs of nodes, from what is read to what reads it.
        gap: Between neighbours of a layer.
        around: Whether edges go around the nodes of the layers that they cross.
    """
    layers = depths(len(widths), edges)
    sizes = list(widths)
    rows: list[list[int]] = [[] for _ in range(max(layers, default=0) + 1)]
    for node, layer in enumerate(layers):
        rows[layer].append(node)
    # A place in each layer that an edge crosses keeps it clear of the nodes there.
    chains: list[list[int]] = []
    for start, end in edges:
        chain = [start]
        for layer in range(layers[start] + 1, layers[end]) if around else ():
            rows[layer].append(len(sizes))
            chain.append(len(sizes))
            sizes.append(gap)
        chains.append([*chain, end])
    links = [pair for chain in chains for pair in pairwise(chain)]
    above, below = _neighbours(len(sizes), links)
    _order(rows, above, below)
    centres = _centred(rows, sizes, gap, above, below)
    left = min((centres[n] - sizes[n] / 2 for row in rows for n in row), default=0.0)
    right = max((centres[n] + sizes[n] / 2 for row in rows for n in row), default=0.0)
    return Layout(
        tuple(centres[node] - left for node in range(len(widths))),
        layers,
        right - left,
        tuple(tuple(centres[n] - left for n in chain[1:-1]) for chain in chains),
    )


def _neighbours(count: int, links: Sequence[Edge]) -> tuple[list[list[int]], list[list[int]]]:
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for start, end in links:
        above[end].append(start)
        below[start].append(end)
    return above, below


def _order(rows: list[list[int]], above: list[list[int]], below: list[list[int]]) -> None:
    """Sort each layer by the mean place of its neighbours, downwards and upwards in turn."""
    place = {node: float(at) for row in rows for at, node in enumerate(row)}
    for sweep in range(_SWEEPS):
        adjacent = below if sweep % 2 else above
        for row in reversed(rows) if sweep % 2 else rows:
            keys = {
                node: sum(place[n] for n in adjacent[node]) / len(adjacent[node])
                if adjacent[node]
                else place[node]
                for node in row
            }
            row.sort(key=keys.__getitem__)
            place.update((node, float(at)) for at, node in enumerate(row))


def _centred(
    rows: list[list[int]],
    sizes: Sequence[float],
    gap: float,
    above: list[list[int]],
    below: list[list[int]],
) -> list[float]:
    """Return each x: as near to the neighbours as the order and the gaps allow."""
    centres = [0.0] * len(sizes)
    for row in rows:
        at = -(sum(sizes[n] for n in row) + gap * (len(row) - 1)) / 2
        for node in row:
            centres[node] = at + sizes[node] / 2
            at += sizes[node] + gap
    for sweep in range(_ROUNDS):
        adjacent = above if sweep % 2 else below
        for row in rows if sweep % 2 else reversed(rows):
            wanted = [
                sum(centres[n] for n in adjacent[node]) / len(adjacent[node])
                if adjacent[node]
                else centres[node]
                for node in row
            ]
            _settle(row, wanted, sizes, gap, centres)
    return centres


def _settle(
    row: list[int],
    wanted: Sequence[float],
    sizes: Sequence[float],
    gap: float,
    centres: list[float],
) -> None:
    """Move a layer towards the wanted places: groups that touch share their mean wish."""
    offsets: list[float] = []
    offset = 0.0
    for at, node in enumerate(row):
        offset += (sizes[row[at - 1]] + sizes[node]) / 2 + gap if at else 0.0
        offsets.append(offset)
    groups: list[tuple[float, int]] = []  # the sum of the wishes less the offsets, and how many
    for wish, off in zip(wanted, offsets, strict=True):
        total, many = wish - off, 1
        while groups and groups[-1][0] / groups[-1][1] > total / many:
            more, others = groups.pop()
            total, many = total + more, many + others
        groups.append((total, many))
    at = 0
    for total, many in groups:
        for _ in range(many):
            centres[row[at]] = total / many + offsets[at]
            at += 1
