"""Sampling images and volumes at coordinates, in operators that every engine has."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
from msgspec import Struct
from onnx import TensorProto

from graphfix.authoring.building import Builder
from graphfix.ir.views import Refuse, Value

_FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE)
_LOW = (TensorProto.FLOAT16, TensorProto.BFLOAT16)
_KEYS = -0.75
# What `grid_sampled` is made of.
EMITS = (
    "Abs Add Cast Div Floor Gather GatherND Max Min Mul Neg Pad Reshape Round Shape Slice Squeeze "
    "Sub Transpose"
)


class Sampling(Struct, frozen=True):
    """How to sample.

    Attributes:
        mode: ``linear``, ``nearest`` or ``cubic`` (Keys, a = -0.75).
        padding: ``zeros``, ``border`` or ``reflection``.
        aligned: Whether -1 and 1 are the middles of the outer pixels, else their outer edges.
    """

    mode: str
    padding: str
    aligned: bool


class _Extent(Struct, frozen=True):
    """A size of the image: a number, or a vector of one int64 computed at run time."""

    size: int | Value

    def plus(self, build: Builder, count: int) -> int | Value:
        """Return the size and `count` more, as an integer."""
        if isinstance(self.size, int):
            return self.size + count
        return build.Add(self.size, count) if count else self.size

    def real(self, build: Builder, count: int, like: Value) -> float | Value:
        """Return the size and `count` more, in the type of `like`."""
        whole = self.plus(build, count)
        return whole if isinstance(whole, int) else build.Cast(whole, to=like.elem_type)


def _extent(build: Builder, x: Value, axis: int) -> _Extent:
    known = x.dim(axis)
    if known is not None:
        return _Extent(known)
    return _Extent(build.Slice(build.Shape(x), starts=[axis], ends=[axis + 1], axes=[0]))


def grid_sampled(build: Builder, x: Value, grid: Value, how: Sampling) -> Value:
    """Return what GridSample gives, by Gather and arithmetic.

    Args:
        build: The builder.
        x: [N, C, D1, ..., Dk]; N and C have to be known where a D is not.
        grid: [N, O1, ..., Ok, k], the coordinate of the last axis first.
        how: Mode, padding and alignment.

    Returns:
        [N, C, O1, ..., Ok], of the type of `x`.

    Raises:
        Refuse: A rank, a size or a type is not known or does not fit.
    """
    if x.rank is None or grid.rank is None:
        raise Refuse("the ranks of the operands must be known")
    if x.rank != grid.rank or x.rank < 3:
        raise Refuse(
            f"the data and the grid must have one rank of at least 3; they are of rank {x.rank} "
            f"and {grid.rank}"
        )
    if grid.elem_type not in (*_FLOATS, *_LOW):
        raise Refuse(f"the coordinates must be floating point; they are {grid.type_name}")
    if how.mode != "nearest" and x.elem_type not in (*_FLOATS, *_LOW):
        raise Refuse(f"what is interpolated must be floating point; it is {x.type_name}")
    axes = x.rank - 2
    if x.shape is not None and 0 in x.shape:
        raise Refuse(f"the sizes of {x.name} must not be 0; one is")
    known = [_extent(build, x, 2 + axis) for axis in range(axes)]
    static = all(isinstance(extent.size, int) for extent in known)
    if not static and (x.dim(0) is None or x.dim(1) is None or how.padding == "reflection"):
        raise Refuse(f"the sizes of {x.name} must be known")
    low = x.elem_type in _LOW and how.mode != "nearest"
    data = build.Cast(x, to=TensorProto.FLOAT) if low else x
    wide = grid
    if grid.elem_type in _LOW:
        wide = build.Cast(grid, to=TensorProto.FLOAT)
    if how.padding == "zeros":
        # A frame of zeros stands for everything outside.
        around = [0, 0, *[1] * axes]
        data = _padded(build, data, [*around, *around])
        padded = [extent.plus(build, 2) for extent in known]
    else:
        padded = [extent.plus(build, 0) for extent in known]
    table, offsets = _table(build, data, padded)
    places: list[list[tuple[Value, Value | None]]] = []
    for axis, extent in enumerate(known):
        column = axes - 1 - axis
        coordinate = build.Slice(wide, starts=[column], ends=[column + 1], axes=[axes + 1])
        places.append(_neighbours(build, coordinate, extent, how))
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


def _table(build: Builder, data: Value, sizes: list[int | Value]) -> tuple[Value, Value | None]:
    """Return rows of C values, one for each place, and where the rows of each batch begin.

    The rows are [N * S, C], or [N, S, C] where the number of batches is not known; there the
    beginnings are None.
    """
    axes = len(sizes)
    numbers = [size for size in sizes if isinstance(size, int)]
    batches, channels = data.dim(0), data.dim(1)
    turned = build.Transpose(data, perm=[0, *range(2, axes + 2), 1])
    if channels is None and batches is None:
        raise Refuse(f"the batches or the channels of {data.name} must be known")
    if batches is None:
        if build.opset < 12:
            raise Refuse(f"the opset must be at least 12 to gather by batches; it is {build.opset}")
        return build.Reshape(turned, [0, prod(numbers), channels or -1]), None
    steps = np.arange(batches, dtype=np.int64).reshape(-1, *[1] * (axes + 1))
    if len(numbers) < axes:
        table = build.Reshape(turned, [-1, channels or 0])
        if batches == 1:
            return table, build.constant(steps)
        count: Value | None = None
        for size in sizes:
            count = build.Mul(count, size) if count is not None else _vector(build, size)
        return table, build.Mul(build.constant(steps), count)
    count_known = prod(numbers)
    wanted = [batches * count_known, -1 if channels is None else channels]
    return build.Reshape(turned, wanted), build.constant(steps * count_known)


def _vector(build: Builder, size: int | Value) -> Value:
    return build.constant(np.array([size], np.int64)) if isinstance(size, int) else size


def _neighbours(
    build: Builder, coordinate: Value, extent: _Extent, how: Sampling
) -> list[tuple[Value, Value | None]]:
    """Return (place, weight) of the pixels that a coordinate reads; places are int64."""
    size = extent.real(build, 0, coordinate)
    if how.aligned:
        middle = build.Div(build.Add(coordinate, 1), 2)
        place = build.Mul(middle, extent.real(build, -1, coordinate))
    else:
        place = build.Div(build.Sub(build.Mul(build.Add(coordinate, 1), size), 1), 2)
    frame = 1 if how.padding == "zeros" else 0
    if how.mode == "cubic":
        return _cubic_neighbours(build, place, extent, how, frame)
    if how.mode == "nearest":
        place = build.Round(place)
    place = _inside(build, place, extent, how)
    if how.mode == "nearest":
        return [(_whole(build, place, frame), None)]
    low = build.Floor(place)
    share = build.Sub(place, low)
    last = extent.real(build, frame - 1, coordinate)
    high = _clipped(build, build.Add(low, 1), -1, last)
    rest = build.Sub(1.0 if share.dtype is None else share.dtype.type(1), share)
    return [(_whole(build, low, frame), rest), (_whole(build, high, frame), share)]


def _inside(build: Builder, place: Value, extent: _Extent, how: Sampling) -> Value:
    """Move a coordinate to where it is read: into the image, or into the frame around it."""
    if how.padding == "zeros":
        # What lies further out is as much outside, and fits into an integer.
        return _clipped(build, place, -1, extent.real(build, 0, place))
    if how.padding == "reflection" and isinstance(extent.size, int):
        place = _reflected(build, place, extent.size, aligned=how.aligned)
    return _clipped(build, place, 0, extent.real(build, -1, place))


def _cubic_neighbours(
    build: Builder, place: Value, extent: _Extent, how: Sampling, frame: int
) -> list[tuple[Value, Value | None]]:
    """Return the four pixels around a coordinate; each is moved inside on its own.

    The shares are those of R. Keys, Cubic convolution interpolation for digital image processing
    (1981), with a = -0.75 as in pytorch/pytorch aten/src/ATen/native/UpSample.h.
    """
    low = build.Floor(place)
    after = build.Sub(place, low)
    one = 1.0 if after.dtype is None else after.dtype.type(1)
    before = build.Sub(one, after)
    shares = [
        _outer_share(build, build.Add(after, 1)),
        _inner_share(build, after),
        _inner_share(build, before),
        _outer_share(build, build.Add(before, 1)),
    ]
    found: list[tuple[Value, Value | None]] = []
    for step, share in zip((-1, 0, 1, 2), shares, strict=True):
        pixel = build.Add(low, step) if step else low
        found.append((_whole(build, _inside(build, pixel, extent, how), frame), share))
    return found


def _inner_share(build: Builder, away: Value) -> Value:
    # ((a + 2) x - (a + 3)) x x + 1
    slope = build.Sub(build.Mul(away, _KEYS + 2), _KEYS + 3)
    return build.Add(build.Mul(build.Mul(slope, away), away), 1)


def _outer_share(build: Builder, away: Value) -> Value:
    # ((a x - 5 a) x + 8 a) x - 4 a
    slope = build.Sub(build.Mul(away, _KEYS), 5 * _KEYS)
    curve = build.Add(build.Mul(slope, away), 8 * _KEYS)
    return build.Sub(build.Mul(curve, away), 4 * _KEYS)


def _whole(build: Builder, place: Value, frame: int) -> Value:
    moved = build.Add(place, frame) if frame else place
    whole = build.Cast(moved, to=TensorProto.INT64)
    # NaN became the smallest integer, where Gather would stop; Max has integers from 12 on.
    return build.Max(whole, 0) if build.opset >= 12 else whole


def _clipped(build: Builder, x: Value, low: float, high: float | Value) -> Value:
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
    sizes: list[int | Value],
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
