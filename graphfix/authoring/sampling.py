"""Sampling images and volumes at coordinates, in operators that every engine has."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from onnx import TensorProto

from graphfix.authoring.building import Builder
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import Value

_FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE)
_LOW = (TensorProto.FLOAT16, TensorProto.BFLOAT16)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to sample.

    Attributes:
        mode: ``linear`` or ``nearest``.
        padding: ``zeros``, ``border`` or ``reflection``.
        aligned: Whether -1 and 1 are the middles of the outer pixels, else their outer edges.
    """

    mode: str
    padding: str
    aligned: bool


def grid_sampled(build: Builder, x: Value, grid: Value, how: Sampling) -> Value:
    """Return what GridSample gives, by Gather and arithmetic.

    Args:
        build: The builder.
        x: [N, C, D1, ..., Dk] with known Ds.
        grid: [N, O1, ..., Ok, k], the coordinate of the last axis first.
        how: Mode, padding and alignment.

    Returns:
        [N, C, O1, ..., Ok], of the type of `x`.

    Raises:
        Refuse: A rank, a size or a type is not known or does not fit.
    """
    if x.rank is None or grid.rank is None:
        raise Refuse("a rank is unknown")
    if x.rank != grid.rank or x.rank < 3:
        raise Refuse(f"data of rank {x.rank} and a grid of rank {grid.rank} do not fit")
    if grid.elem_type not in (*_FLOATS, *_LOW):
        raise Refuse(f"the coordinates are {grid.type_name}")
    if how.mode == "linear" and x.elem_type not in (*_FLOATS, *_LOW):
        raise Refuse(f"{x.type_name} is not interpolated")
    axes = x.rank - 2
    sizes = [x.dim(2 + axis) for axis in range(axes)]
    known = [size for size in sizes if size]
    if len(known) < axes:
        raise Refuse(f"a size of {x.name} is unknown or 0")
    low = x.elem_type in _LOW and how.mode == "linear"
    data = build.Cast(x, to=TensorProto.FLOAT) if low else x
    wide = grid
    if grid.elem_type in _LOW:
        wide = build.Cast(grid, to=TensorProto.FLOAT)
    if how.padding == "zeros":
        # A frame of zeros stands for everything outside.
        around = [0, 0, *[1] * axes]
        data = _padded(build, data, [*around, *around])
        padded = [size + 2 for size in known]
    else:
        padded = known
    table, offsets = _table(build, data, padded)
    places: list[list[tuple[Value, Value | None]]] = []
    for axis, size in enumerate(known):
        column = axes - 1 - axis
        coordinate = build.Slice(wide, starts=[column], ends=[column + 1], axes=[axes + 1])
        places.append(_neighbours(build, coordinate, size, how))
    total: Value | None = None
    for corner in product(*places):
        value = _picked(build, table, offsets, [place for place, _ in corner], padded)
        for _, weight in corner:
            if weight is not None:
                if weight.elem_type != value.elem_type:
                    weight = build.Cast(weight, to=value.elem_type)
                value = build.Mul(value, weight)
        total = value if total is None else build.Add(total, value)
    assert total is not None  # there is at least one corner
    result = build.Transpose(total, perm=[0, axes + 1, *range(1, axes + 1)])
    return build.Cast(result, to=x.elem_type) if low else result


def _padded(build: Builder, x: Value, pads: list[int]) -> Value:
    if build.opset >= 11 or x.elem_type in (*_FLOATS, *_LOW):
        return build.Pad(x, pads=pads, mode="constant")
    raise Refuse(f"opset {build.opset} does not pad {x.type_name}")


def _table(build: Builder, data: Value, sizes: list[int]) -> tuple[Value, Value | None]:
    """Return rows of C values, one for each place, and where the rows of each batch begin.

    The rows are [N * S, C], or [N, S, C] where the number of batches is not known; there the
    beginnings are None.
    """
    axes, count = len(sizes), int(np.prod(sizes, dtype=np.int64))
    batches, channels = data.dim(0), data.dim(1)
    turned = build.Transpose(data, perm=[0, *range(2, axes + 2), 1])
    if channels is None and batches is None:
        raise Refuse(f"neither batches nor channels of {data.name} are known")
    if batches is None:
        if build.opset < 12:
            raise Refuse("opset 12 is the first that gathers by batches")
        return build.Reshape(turned, [0, count, channels or -1]), None
    table = build.Reshape(turned, [batches * count, -1 if channels is None else channels])
    starts = np.arange(batches, dtype=np.int64).reshape(-1, *[1] * (axes + 1)) * count
    return table, build.constant(starts)


def _neighbours(
    build: Builder, coordinate: Value, size: int, how: Sampling
) -> list[tuple[Value, Value | None]]:
    """Return (place, weight) of the pixels that a coordinate reads; places are int64."""
    if how.aligned:
        place = build.Mul(build.Div(build.Add(coordinate, 1), 2), size - 1)
    else:
        place = build.Div(build.Sub(build.Mul(build.Add(coordinate, 1), size), 1), 2)
    if how.mode == "nearest":
        place = build.Round(place)
    frame = 0
    if how.padding == "zeros":
        # What lies further out is as much outside, and fits into an integer.
        place, frame = _clipped(build, place, -1, size), 1
    elif how.padding == "reflection":
        place = _reflected(build, place, size, aligned=how.aligned)
    if how.padding != "zeros":
        place = _clipped(build, place, 0, size - 1)
    if how.mode == "nearest":
        return [(_whole(build, place, frame), None)]
    low = build.Floor(place)
    share = build.Sub(place, low)
    high = _clipped(build, build.Add(low, 1), -1, size if frame else size - 1)
    rest = build.Sub(1.0 if share.dtype is None else share.dtype.type(1), share)
    return [(_whole(build, low, frame), rest), (_whole(build, high, frame), share)]


def _whole(build: Builder, place: Value, frame: int) -> Value:
    moved = build.Add(place, frame) if frame else place
    return build.Cast(moved, to=TensorProto.INT64)


def _clipped(build: Builder, x: Value, low: float, high: float) -> Value:
    return build.Min(build.Max(x, low), high)


def _reflected(build: Builder, place: Value, size: int, *, aligned: bool) -> Value:
    """Fold a coordinate back between its bounds, as often as it takes.

    A triangle wave of twice the span; being continuous it forgives a rounded quotient.
    """
    first, span = (0.0, size - 1) if aligned else (-0.5, size)
    if span == 0:
        return build.Mul(_clipped(build, place, 0, 0), 0)
    away = build.Sub(place, first)
    turns = build.Floor(build.Div(away, 2 * span))
    rest = build.Sub(away, build.Mul(turns, 2 * span))
    distance = build.Abs(build.Sub(rest, span))
    return build.Add(build.Neg(distance), span + first)


def _picked(
    build: Builder,
    table: Value,
    offsets: Value | None,
    places: list[Value],
    sizes: list[int],
) -> Value:
    """Return the rows of the table at places given axis by axis: [N, O1, ..., Ok, C]."""
    flat: Value | None = None
    for place, size in zip(places, sizes, strict=True):
        flat = place if flat is None else build.Add(build.Mul(flat, size), place)
    assert flat is not None  # there is at least one axis
    last = len(sizes) + 1
    if offsets is None:
        return build.GatherND(table, flat, batch_dims=1)
    if offsets.dim(0) != 1:
        flat = build.Add(flat, offsets)
    return build.Gather(table, build.Squeeze(flat, axes=[last]), axis=0)
