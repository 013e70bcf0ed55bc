"""Slices of a decoder once its caches have a fixed length: at the position, or of all places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import NodeProto

from graphfix.edits.caches.position import Position
from graphfix.edits.caches.readings import Array, Readings

_END = 1 << 62  # from here on an end is the end of the axis


class Unclear(Exception):  # noqa: N818 - a reason to refuse a node, which its caller names
    """What a node does with the length of the past is not understood."""


def cut(node: NodeProto, readings: Readings, at: Position) -> None:
    """Write a Slice.

    Raises:
        Unclear: It cuts other than a part at the position or all, or where it cuts is not known.
    """
    data, *rest = node.input
    known = [readings.known(name) if name else None for name in (*rest, "", "")]
    starts, ends = known[:2]
    if (
        starts is None
        or ends is None
        or any(rest[i] and known[i] is None for i in range(len(rest)))
    ):
        raise Unclear("cuts where is not known")
    count = len(starts[0])
    axes = np.arange(count) if known[2] is None else known[2][0]
    steps = np.ones(count, np.int64) if known[3] is None else known[3][0]
    rank = readings.rank(data)
    kept: list[tuple[int, int, int, int]] = []
    x = data
    for place in range(count):
        axis = int(axes[place]) % rank if rank else int(axes[place])
        sizes = readings.sizes(data, axis)
        begin, end = ([int(value[place]) for value in values] for values in (starts, ends))
        if all(len(set(each)) == 1 for each in (begin, end, sizes)):
            kept.append((begin[0], end[0], axis, int(steps[place])))
            continue
        known_sizes = [size for size in sizes if size is not None]
        if steps[place] != 1 or len(known_sizes) < len(sizes):
            raise Unclear(f"cuts axis {axis}, of a size that is not known or in steps")
        bounds = [
            slice(b, None if e > _END else e).indices(size)[:2]
            for b, e, size in zip(begin, end, known_sizes, strict=True)
        ]
        whole = readings.as_size([last for _, last in bounds])
        if {first for first, _ in bounds} == {0} and whole is not None:
            kept.append((0, int(whole), axis, 1))
            continue
        if len(set(sizes)) > 1 and readings.as_size(sizes) is None:
            raise Unclear(f"cuts axis {axis}, where something comes after all places")
        x = at.add("Gather", x, _rows(readings, at, axis, bounds, known_sizes[0]), axis=axis)
    if kept:
        columns = [at.constant(np.array(part, np.int64)) for part in zip(*kept, strict=True)]
        x = at.add("Slice", x, *columns)
    at.add("Identity", x, output=node.output[0])


def _rows(
    readings: Readings, at: Position, axis: int, bounds: Sequence[tuple[int, int]], size: int
) -> str:
    """Write which rows a Slice takes.

    Raises:
        Unclear: They do not begin at a place that follows from the position.
    """
    line = readings.line([first for first, _ in bounds])
    lengths = [last - first for first, last in bounds]
    count = readings.as_size(lengths)
    if (line is None or count is None) and size < readings.length and _ends(bounds, size):
        raise Unclear(f"cuts a table for {size} places, fewer than {readings.length}")
    if line is None or count is None:
        said = [
            f"{first}:{last} of axis {axis} for a past of {reading.past}"
            for (first, last), reading in zip(bounds, readings.read, strict=True)
        ]
        raise Unclear(f"cuts {said[0]} and {said[-1]}")
    offsets: Array = line[0] + np.arange(int(count))
    slope = np.broadcast_to(line[1], offsets.shape)
    rows = at.line(offsets, slope, np.dtype(np.int64))
    if len(set(lengths)) > 1:  # places that nothing was put at yet may be past the end
        rows = at.add("Min", rows, at.constant(np.array([size - 1])))
    return rows


def _ends(bounds: Sequence[tuple[int, int]], size: int) -> bool:
    """Say whether the longest past is cut at an end of a table, and shorter ones are not."""
    first, last = bounds[0], bounds[-1]
    return last in ((size, size), (0, size)) and first != last
