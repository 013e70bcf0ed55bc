"""Between opset 16 and 15.

References: GridSample-16 in onnx/defs/tensor and its evaluation in
onnx/reference/ops/op_grid_sample.py: coordinates are rounded (nearest), then brought into the
image (border, reflection), then neighbours are read, those outside as 0.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_elem_type, reshaped
from graphfix.opset.adapting import Adapted, adapter

_CUBIC = -0.75


class _Axis(Struct, frozen=True):
    """One spatial axis.

    Attributes:
        size: Its size.
        at: The coordinates to read at, as pixels, of shape (N, Ho, Wo).
    """

    size: int
    at: Value


class _Tap(Struct, frozen=True):
    """A neighbour along one axis.

    Attributes:
        index: Its number (int64), 0 where it lies outside.
        inside: Whether it lies inside.
        weight: How much it counts; None for all of it.
    """

    index: Value
    inside: Value
    weight: Value | None


@adapter("GridSample", 16, 15)
def grid_sample_down(node: NodeView, build: Builder) -> Adapted:
    """Read the neighbours with GatherElements and add them up by weight."""
    x, grid = node.need(0), node.need(1)
    mode = node.attr("mode", "bilinear")
    padding = node.attr("padding_mode", "zeros")
    if x.rank != 4 or grid.rank != 4:
        raise Refuse("the ranks of the input and the grid must be 4; they are not known to be")
    height, width, channels = x.dim(2), x.dim(3), x.dim(1)
    if height is None or width is None or channels is None:
        raise Refuse("channels, height and width of the input must be known")
    if not height or not width:
        raise Refuse("the input must have pixels; it has none")
    if need_elem_type(x) != need_elem_type(grid):
        raise Refuse("the input and the grid must have one dtype; they differ")
    if x.type_name not in ("float32", "float64", "float16"):
        raise Refuse(f"the input must be float32, float64 or float16; it is {x.type_name}")
    if mode == "bicubic" and padding != "zeros":
        raise Refuse(
            f"the padding_mode of bicubic must be 'zeros'; it is {padding!r}, which engines read "
            "differently"
        )
    align = bool(node.attr("align_corners", 0))
    columns = _axis(grid, 0, width, mode, padding, align, build)
    rows = _axis(grid, 1, height, mode, padding, align, build)
    flat = build.Reshape(x, [0, 0, height * width])
    total: Value | None = None
    across = _taps(columns, mode, build)
    for row in _taps(rows, mode, build):
        for column in across:
            term = _read(flat, row, column, channels, width, build)
            total = term if total is None else build.Add(total, term)
    assert total is not None
    ends = [end for end in (grid.dim(1), grid.dim(2)) if end]
    if len(ends) == 2:
        return build.Reshape(total, [0, 0, *ends])
    outer = build.Slice(build.Shape(x), starts=[0], ends=[2], axes=[0])
    inner = build.Slice(build.Shape(grid), starts=[1], ends=[3], axes=[0])
    return reshaped(total, build.Concat(outer, inner, axis=0), build)


def _axis(
    grid: Value, which: int, size: int, mode: str, padding: str, align: bool, build: Builder
) -> _Axis:
    """Turn coordinates from -1 to 1 into pixels, and bring them into the image."""
    given = build.Gather(grid, np.array(which, dtype=np.int64), axis=3)
    if align:
        at = build.Mul(build.Div(build.Add(given, 1.0), 2.0), float(size - 1))
    else:
        at = build.Div(build.Sub(build.Mul(build.Add(given, 1.0), float(size)), 1.0), 2.0)
    if mode == "nearest":
        at = build.Round(at)
    if padding == "reflection":
        low, high = (0.0, size - 1.0) if align else (-0.5, size - 0.5)
        at = _reflected(at, low, high, build) if high > low else build.Mul(at, 0.0)
    if padding in ("border", "reflection"):
        at = build.Clip(at, _number(at, 0.0, build), _number(at, size - 1.0, build))
    return _Axis(size, at)


def _number(like: Value, number: float, build: Builder) -> Value:
    return build.constant(np.array(number, dtype=like.dtype))


def _reflected(at: Value, low: float, high: float, build: Builder) -> Value:
    """Fold coordinates back at both ends as often as it takes."""
    length = high - low
    away = build.Abs(build.Sub(at, low))
    times = build.Floor(build.Div(away, length))
    rest = build.Sub(away, build.Mul(times, length))
    half = build.Mul(times, 0.5)
    even = build.Less(build.Sub(half, build.Floor(half)), _number(at, 0.25, build))
    return build.Where(even, build.Add(rest, low), build.Sub(_number(at, high, build), rest))


def _taps(axis: _Axis, mode: str, build: Builder) -> list[_Tap]:
    if mode == "nearest":
        return [_tap(axis, axis.at, None, build)]
    first = build.Floor(axis.at)
    part = build.Sub(axis.at, first)
    if mode == "bilinear":
        near = build.Sub(_number(part, 1.0, build), part)
        return [
            _tap(axis, first, near, build),
            _tap(axis, build.Add(first, 1.0), part, build),
        ]
    return [
        _tap(axis, build.Add(first, float(shift)), _cubic(part, shift, build), build)
        for shift in (-1, 0, 1, 2)
    ]


def _cubic(part: Value, shift: int, build: Builder) -> Value:
    """Return Keys' kernel with a = -0.75 at the distance of a neighbour, by Horner's rule."""
    a = _CUBIC
    match shift:
        case -1:
            distance, factors = build.Add(part, 1.0), (a, -5 * a, 8 * a, -4 * a)
        case 0:
            distance, factors = part, (a + 2, -(a + 3), 0.0, 1.0)
        case 1:
            distance = build.Sub(_number(part, 1.0, build), part)
            factors = (a + 2, -(a + 3), 0.0, 1.0)
        case _:
            distance = build.Sub(_number(part, 2.0, build), part)
            factors = (a, -5 * a, 8 * a, -4 * a)
    result = build.Add(build.Mul(distance, factors[0]), factors[1])
    for factor in factors[2:]:
        result = build.Add(build.Mul(result, distance), factor)
    return result


def _tap(axis: _Axis, at: Value, weight: Value | None, build: Builder) -> _Tap:
    # Written so that a NaN, for which every comparison is false, is outside.
    inside = build.And(
        build.Greater(at, _number(at, -0.5, build)),
        build.Less(at, _number(at, axis.size - 0.5, build)),
    )
    safe = build.Where(inside, at, _number(at, 0.0, build))
    return _Tap(build.Cast(safe, to=TensorProto.INT64), inside, weight)


def _read(flat: Value, row: _Tap, column: _Tap, channels: int, width: int, build: Builder) -> Value:
    """Read one neighbour of every output pixel, times its weight, as (N, C, Ho * Wo)."""
    place = build.Add(build.Mul(row.index, width), column.index)
    spread = build.Expand(_line(place, build), [1, channels, 1])
    pixels = build.GatherElements(flat, spread, axis=2)
    inside = build.And(row.inside, column.inside)
    if row.weight is None or column.weight is None:
        counted = _line(inside, build)
        return build.Where(counted, pixels, _number(pixels, 0.0, build))
    weight = build.Mul(row.weight, column.weight)
    kept = build.Where(inside, weight, _number(weight, 0.0, build))
    return build.Mul(pixels, _line(kept, build))


def _line(value: Value, build: Builder) -> Value:
    """Join what belongs to one image: (N, Ho, Wo) becomes (N, 1, Ho * Wo), whatever is 0."""
    return build.Unsqueeze(build.Flatten(value, axis=1), axes=[1])
