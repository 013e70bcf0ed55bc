"""The arithmetic of Resize along one axis: coordinates, nearest indices, interpolation matrices.

The formulas are those of https://onnx.ai/onnx/operators/onnx__Resize.html; where its text leaves
the scale open (`scales` with a product that is no integer, `keep_aspect_ratio_policy`) both
onnx/reference/ops/op_resize.py and onnxruntime/core/providers/cpu/tensor/upsample.cc use the
scale that was asked for, not the ratio of the lengths.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from msgspec import Struct

from graphfix.authoring import Refuse

Array = np.ndarray[Any, Any]
HALF = Fraction(1, 2)
MAX_SIZE = 1 << 20
COORDINATE_MODES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)


class Axis(Struct, frozen=True):
    """One resized axis.

    Attributes:
        index: Its position in the tensor.
        length: The input's size along it.
        size: The output's size along it.
        scale: The factor that coordinates are divided by, exactly.
        start: Where the region of interest starts, as a part of the length.
        end: Where it ends.

    Raises:
        Refuse: The output has more positions than `MAX_SIZE`.
    """

    index: int
    length: int
    size: int
    scale: Fraction
    start: Fraction = Fraction(0)
    end: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        """Refuse what would take gigabytes to write down."""
        if self.size > MAX_SIZE:
            raise Refuse(
                f"axis {self.index} must have at most {MAX_SIZE} pixels; it has {self.size}"
            )


class Sampler(Struct, frozen=True):
    """Linear or cubic sampling: ``matrix @ x`` along one axis, and what lies outside.

    Attributes:
        matrix: float64 [size, length].
        outside: bool [size]; true where the output is the extrapolation value (the row is 0).
    """

    matrix: Array
    outside: Array


def coordinates(axis: Axis, mode: str) -> list[Fraction]:
    """Return where in the input each output position samples, exactly."""
    first, step = _line(axis, mode)
    return [first + y * step for y in range(axis.size)]


def _line(axis: Axis, mode: str) -> tuple[Fraction, Fraction]:
    """Return where the first position samples, and how far apart those after it are."""
    last = axis.length - 1
    if mode == "align_corners":
        return Fraction(0), Fraction(last, axis.size - 1) if axis.size > 1 else Fraction(0)
    step = 1 / axis.scale
    if mode == "asymmetric":
        return Fraction(0), step
    if mode == "tf_half_pixel_for_nn":
        return HALF * step, step
    if mode == "tf_crop_and_resize":
        if axis.size == 1:
            return HALF * (axis.start + axis.end) * last, Fraction(0)
        return axis.start * last, (axis.end - axis.start) * last / (axis.size - 1)
    if mode == "pytorch_half_pixel" and axis.size == 1:
        return Fraction(0), Fraction(0)
    offset = Fraction(0)
    if mode == "half_pixel_symmetric":
        offset = Fraction(axis.length, 2) * (1 - axis.size / (axis.scale * axis.length))
    return offset + HALF * step - HALF, step


def rounded_coordinates(axis: Axis, mode: str, dtype: type[np.floating[Any]]) -> Array:
    """Return the coordinates as engines compute them, in `dtype`.

    The order of operations is that of onnxruntime/core/providers/cpu/tensor/upsample.h
    (GetOriginalCoordinateFromResizedCoordinate), which the reference evaluator has in float64.
    """

    def number(value: Fraction | float) -> np.floating[Any]:
        return dtype(float(value))

    half = number(HALF)
    y: Array = np.arange(axis.size, dtype=dtype)
    last, step = number(axis.length - 1), number(max(axis.size - 1, 1))
    scale, start, end = number(axis.scale), number(axis.start), number(axis.end)
    x: Array = (y + half) / scale
    if mode == "align_corners":
        x = y * last / step
    elif mode == "asymmetric":
        x = y / scale
    elif mode == "tf_crop_and_resize" and axis.size == 1:
        x = np.array([half * (start + end) * last], dtype=dtype)
    elif mode == "tf_crop_and_resize":
        x = start * last + y * (end - start) * last / step
    elif mode == "pytorch_half_pixel" and axis.size == 1:
        x = np.zeros(1, dtype=dtype)
    elif mode == "half_pixel_symmetric":
        length, size = number(axis.length), number(axis.size)
        x = length * half * (number(1) - size / (scale * length)) + x - half
    elif mode != "tf_half_pixel_for_nn":
        x = x - half
    return x


def _nearest_exactly(axis: Axis, mode: str, nearest_mode: str) -> Array:
    """Return the nearest positions, int64 or Python's own [size], in arithmetic without rounding.

    With x = n / d, both whole, ceil(n / d) is -floor(-n / d).
    """
    first, step = _line(axis, mode)
    d = math.lcm(first.denominator, step.denominator)
    most = 2 * (d + abs(int(first * d)) + abs(int(step * d)) * axis.size)
    kind = np.int64 if most < 1 << 62 else np.object_
    y: Array = np.arange(axis.size).astype(kind)
    n: Array = int(first * d) + int(step * d) * y
    if nearest_mode == "floor":
        return n // d
    if nearest_mode == "ceil":
        return -(-n // d)
    if nearest_mode == "round_prefer_ceil":
        return (2 * n + d) // (2 * d)
    return -((d - 2 * n) // (2 * d))


def _nearest(x: Array, mode: str) -> Array:
    """Return the nearest positions of floats [size], as floats; what is added is whole."""
    if mode == "floor":
        return np.floor(x)
    if mode == "ceil":
        return np.ceil(x)
    part, whole = np.modf(x)
    if mode == "round_prefer_ceil":
        return whole + (part >= 0.5) - (part < -0.5)
    return whole + (part > 0.5) - (part <= -0.5)


def nearest_indices(axis: Axis, mode: str, nearest_mode: str) -> list[int] | None:
    """Return which input position each output position takes.

    Returns:
        One index per output position, or None where coordinates in float32, in float64 and exact
        ones choose different positions, so that engines need not agree with one another.
    """
    top = axis.length - 1
    exact = np.clip(_nearest_exactly(axis, mode, nearest_mode), 0, top).astype(np.int64)
    ways = [rounded_coordinates(axis, mode, kind) for kind in (np.float32, np.float64)]
    if mode in ("half_pixel_symmetric", "tf_crop_and_resize"):
        # Engines order these formulas differently, so points next to a step are doubtful.
        ways.extend([ways[1] - 1e-5, ways[1] + 1e-5])
    for way in ways:
        if not np.array_equal(
            np.clip(_nearest(way.astype(np.float64), nearest_mode), 0, top), exact
        ):
            return None
    return [int(index) for index in exact]


def outside_mask(axis: Axis, mode: str) -> Array | None:
    """Return which output positions lie outside the input (tf_crop_and_resize only).

    Returns:
        bool [size], or None where rounded coordinates and exact ones disagree.
    """
    if mode != "tf_crop_and_resize":
        return np.zeros(axis.size, dtype=np.bool_)
    last = axis.length - 1
    exact = np.array([not 0 <= x <= last for x in coordinates(axis, mode)], dtype=np.bool_)
    for kind in (np.float32, np.float64):
        way = rounded_coordinates(axis, mode, kind)
        if not np.array_equal(exact, (way < 0) | (way > last)):
            return None
    return exact


def linear_kernel(distance: float) -> float:
    """Return the weight of a point at `distance` in linear interpolation."""
    return max(0.0, 1.0 - abs(distance))


def cubic_kernel(distance: float, a: float) -> float:
    """Return the weight of a point at `distance` in cubic convolution (Keys, 1981)."""
    x = abs(distance)
    if x <= 1.0:
        return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
    if x < 2.0:
        return ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a
    return 0.0


def sampler(
    axis: Axis,
    mode: str,
    *,
    cubic: float | None = None,
    antialias: bool = False,
    exclude_outside: bool = False,
) -> Sampler | None:
    """Return the interpolation along one axis as a matrix.

    Args:
        axis: The axis.
        mode: The coordinate transformation mode.
        cubic: The coefficient a of cubic interpolation; None for linear.
        antialias: Whether the kernel is stretched when the axis shrinks, and normalised.
        exclude_outside: Whether points outside get no weight; else the edge stands for them.

    Returns:
        The sampler, or None where it depends on rounding what lies outside the input.
    """
    outside = outside_mask(axis, mode)
    if outside is None:
        return None
    radius = 1 if cubic is None else 2
    stretch = min(float(axis.scale), 1.0) if antialias else 1.0
    matrix = np.zeros((axis.size, axis.length), dtype=np.float64)
    for y, x in enumerate(coordinates(axis, mode)):
        if outside[y]:
            continue
        base = math.floor(x)
        ratio = float(x - base)
        first = math.floor(-radius / stretch) + 1
        taps = range(first, 2 - first) if antialias else range(1 - radius, 1 + radius)
        weights = [_weight((tap - ratio) * stretch, cubic) for tap in taps]
        places = [base + tap for tap in taps]
        if exclude_outside:
            weights = [
                w if 0 <= p < axis.length else 0.0 for w, p in zip(weights, places, strict=True)
            ]
        total = math.fsum(weights) if antialias or exclude_outside else 1.0
        for weight, place in zip(weights, places, strict=True):
            matrix[y, min(max(place, 0), axis.length - 1)] += weight / total
    return Sampler(matrix, outside)


def _weight(distance: float, cubic: float | None) -> float:
    return linear_kernel(distance) if cubic is None else cubic_kernel(distance, cubic)


def same_pixels(before: Axis, after: Axis, mode: str, nearest_mode: str) -> bool:
    """Say whether nearest sampling takes the same pixels in two forms, whoever computes it."""
    first = nearest_indices(before, mode, nearest_mode)
    return first is not None and first == nearest_indices(after, mode, nearest_mode)
