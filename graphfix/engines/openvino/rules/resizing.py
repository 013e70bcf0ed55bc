"""OpenVINO: Resize and Upsample by scales."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, needed

_ASKED = "measured on 2026.4.1: facts/asked.json"
_HALF = Fraction(1, 2)
_COORDINATES_SINCE = 11  # the opset from which on Resize has modes of coordinates
# How nearest rounds, by the name of it.
_ROUNDED: dict[str, Callable[[Fraction], int]] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "round_prefer_ceil": lambda place: math.floor(place + _HALF),
    "round_prefer_floor": lambda place: math.ceil(place - _HALF),
}
_AT_HALVES = frozenset({"half_pixel", "pytorch_half_pixel"})


@rule(
    "Upsample",
    feature="op:Upsample",
    versions="openvino2026.4..",
    severity=WRONG,
    source=f"{_ASKED}, upsample and upsample-computed: the model that it reads has an Interpolate"
    " of half_pixel and round_prefer_floor; linear is equal",
)
def upsample_of_half_pixels(node: NodeView, target: Target) -> Answer:
    """OpenVINO computes nearest Upsample with half-pixel coordinates; ONNX: asymmetric."""
    if node.attr("mode", "nearest") != "nearest":
        return None
    scales = needed(_scales(node), "whether the scales are multiples of a half")
    if all((2 * scale).denominator == 1 for scale in scales):
        return None
    sizes = node.need(0).shape
    if sizes is None or len(sizes) != len(scales):
        return True
    made = [_resized(size, scale) for size, scale in zip(sizes, scales, strict=True)]
    if None not in made and made == list(sizes):
        return None  # nothing is computed
    return any(
        not isinstance(size, int)
        or _read(scale, size, "asymmetric", "floor")
        != _read(scale, size, "half_pixel", "round_prefer_floor")
        for size, scale in zip(sizes, scales, strict=True)
        if (2 * scale).denominator != 1
    )


@rule(
    ("Resize", "Upsample"),
    feature="attr:{op}.mode",
    versions="openvino2026.4..",
    severity=WRONG,
    source=f"{_ASKED}, resize-of-one-axis: scales [1.2, 1.8] of [3, 5], which becomes [3, 9]",
)
def scaled_axis_of_the_same_size(node: NodeView, target: Target) -> Answer:
    """OpenVINO skips an axis whose size stays the same though its scale is not 1."""
    scales, sizes = _scales(node), node.need(0).static_shape
    if scales is None or sizes is None or len(scales) != len(sizes):
        return None
    pairs = list(zip(sizes, scales, strict=True))
    if all(_resized(size, scale) == size for size, scale in pairs):
        return None
    kept = [pair for pair in pairs if pair[1] != 1 and _resized(*pair) == pair[0] > 1]
    mode, coordinates, rounding = _form(node)
    if coordinates not in (*_AT_HALVES, "asymmetric"):
        return None
    if mode == "nearest":
        kept = [
            (size, scale)
            for size, scale in kept
            if _read(scale, size, coordinates, rounding) != list(range(size))
        ]
    return bool(kept) and Yes(feature=f"attr:{node.op}.mode={mode}")


def _form(node: NodeView) -> tuple[str, str, str]:
    """Return the mode, the mode of coordinates and how nearest rounds."""
    mode = str(node.attr("mode", "nearest"))
    if node.op == "Upsample" or node.opset < _COORDINATES_SINCE:
        return mode, "asymmetric", "floor"
    where = str(node.attr("coordinate_transformation_mode", "half_pixel"))
    return mode, where, str(node.attr("nearest_mode", "round_prefer_floor"))


def _scales(node: NodeView) -> Sequence[Fraction] | None:
    """Return the scales of all axes; None where they are not known, or sizes are given."""
    old = node.op == "Upsample" or node.opset < _COORDINATES_SINCE
    given, axes = node.input(1 if old else 2), node.attr("axes")
    if given is None:
        named = node.attr("scales")
        return None if named is None else [Fraction(float(scale)) for scale in named]
    known = given.array()
    if known is None or not known.size or axes is not None:
        return None
    return [Fraction(float(scale)) for scale in known]


def _resized(size: object, scale: Fraction) -> int | None:
    return math.floor(size * scale) if isinstance(size, int) else None


def _read(scale: Fraction, size: int, coordinates: str, rounding: str) -> list[int]:
    """Return which element of an axis each of the result is."""
    shift = _HALF if coordinates in _AT_HALVES else Fraction(0)
    places = ((place + shift) / scale - shift for place in range(math.floor(size * scale)))
    return [min(max(_ROUNDED[rounding](place), 0), size - 1) for place in places]
