"""Replace grid_sampler by GridSample, or by Gather and arithmetic.

What it does: Where the opset has GridSample for the rank at hand (images from opset 16, volumes
    from opset 20) it writes that. Below, it gathers the pixels around every coordinate and adds
    them with their shares.
Why engines need it: PyTorch's exporter writes an ATen node where the opset has no GridSample for
    it.
Before: y = org.pytorch.aten.ATen <operator = "grid_sampler"> (x, grid, 0, 0, 0)
After: y = GridSample <mode = "bilinear", padding_mode = "zeros", align_corners = 0> (x, grid)
When it refuses: The mode, the padding or the alignment is computed at run time or unknown, the rank
    is unknown or neither 4 nor 5, volumes are to be sampled bicubically, or, without GridSample,
    the mode is bicubic or (below opset 11, which brought Round) nearest, a size of x is unknown, or
    both its batches and its channels are.
Accuracy: Exact up to the order of summation. Without GridSample, float16 and bfloat16 are computed
    in float32. Coordinates that are not numbers give results that depend on the engine.
References: pytorch/pytorch aten/src/ATen/native/GridSampler.cpp and GridSamplerUtils.h;
    https://onnx.ai/onnx/operators/onnx__GridSample.html
"""

from itertools import product
from typing import Any

import numpy as np

from graphfix.authoring import (
    Array,
    Builder,
    NodeView,
    Refuse,
    Sampling,
    Value,
    grid_sampled,
    sampling,
)

from ._arguments import ArrayCall, call_of, replacing

NAMES = ("grid_sampler", "grid_sampler_2d", "grid_sampler_3d")
SCHEMA = ("input", "grid", "interpolation_mode", "padding_mode", "align_corners")
_MODES = ("linear", "nearest", "cubic")
_PADDINGS = ("zeros", "border", "reflection")
_BEFORE_20 = {"linear": "bilinear", "nearest": "nearest", "cubic": "bicubic"}


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Sample with numpy, the coordinates in the type of the grid."""
    call = ArrayCall(inputs, attributes, SCHEMA)
    x, grid = call.need("input"), call.need("grid")
    mode = _MODES[int(call.number("interpolation_mode", 0))]
    padding = _PADDINGS[int(call.number("padding_mode", 0))]
    aligned = bool(call.number("align_corners", 0))
    places = grid.astype(np.float32) if grid.dtype == np.float16 else grid
    rows = np.moveaxis(x, 1, -1)
    axes = x.ndim - 2
    taps = [
        _taps(places[..., axes - 1 - axis], x.shape[2 + axis], mode, padding, aligned=aligned)
        for axis in range(axes)
    ]
    batch: Array = np.arange(len(x)).reshape(-1, *[1] * axes)
    total: Array = np.zeros((*grid.shape[:-1], x.shape[1]), dtype=np.float64)
    for corner in product(*taps):
        weight = np.prod(np.stack([share for _, share in corner]), axis=0)
        total += rows[(batch, *(index for index, _ in corner))] * weight[..., None]
    return (np.ascontiguousarray(np.moveaxis(total, -1, 1)).astype(x.dtype),)


def _taps(
    line: Array, size: int, mode: str, padding: str, *, aligned: bool
) -> list[tuple[Array, Array]]:
    """Return (index, share) of what each coordinate reads along one axis."""
    two, one = line.dtype.type(2), line.dtype.type(1)
    place = (line + one) / two * (size - 1) if aligned else ((line + one) * size - one) / two
    place = np.nan_to_num(place, nan=-2.0 * size)
    if mode != "cubic":
        place = _inside(place, size, padding, aligned=aligned)
    if mode == "nearest":
        steps = [(np.rint(place), np.ones_like(place))]
    elif mode == "linear":
        low = np.floor(place)
        steps = [(low, one - (place - low)), (low + one, place - low)]
    else:
        low = np.floor(place)
        shares = _cubic(place - low)
        steps = [(low + step, share) for step, share in zip((-1, 0, 1, 2), shares, strict=True)]
    found: list[tuple[Array, Array]] = []
    for index, share in steps:
        known = _inside(index, size, padding, aligned=aligned) if mode == "cubic" else index
        share = np.where((known >= 0) & (known <= size - 1), share, 0)
        found.append((np.clip(known, 0, size - 1).astype(np.int64), share))
    return found


def _inside(place: Array, size: int, padding: str, *, aligned: bool) -> Array:
    """Move coordinates into the image as the padding asks."""
    if padding == "zeros":
        return np.clip(place, -4, size + 4)
    if padding == "reflection":
        first, span = (0.0, size - 1) if aligned else (-0.5, size)
        if span:
            rest = np.mod(place - first, 2 * span)
            place = first + np.minimum(rest, 2 * span - rest)
    return np.clip(place, 0, size - 1)


def _cubic(t: Array, a: float = -0.75) -> tuple[Array, ...]:
    def near(d: Array) -> Array:
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d: Array) -> Array:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return far(t + 1), near(t), near(1 - t), far(2 - t)


@replacing(NAMES, emits=(sampling.EMITS, "GridSample"), evaluate=evaluate)
def aten_grid_sampler(node: NodeView, build: Builder) -> Value:
    """Sample, see the module."""
    call = call_of(node, dict.fromkeys(NAMES, SCHEMA))
    x, grid = call.need("input"), call.need("grid")
    mode = int(call.number("interpolation_mode", 0))
    padding = int(call.number("padding_mode", 0))
    if not 0 <= mode < len(_MODES) or not 0 <= padding < len(_PADDINGS):
        raise Refuse(f"the modes must be known ones; interpolation is {mode} and padding {padding}")
    how = Sampling(_MODES[mode], _PADDINGS[padding], bool(call.number("align_corners", 0)))
    if x.rank not in (4, 5):
        raise Refuse(f"the rank of {x.name} must be 4 or 5; it is {x.rank}")
    if how.mode == "cubic" and x.rank == 5:
        raise Refuse("the mode of volumes must be linear or nearest; it is bicubic")
    if build.opset >= (16 if x.rank == 4 else 20):
        return build.GridSample(
            x,
            grid,
            mode=how.mode if build.opset >= 20 else _BEFORE_20[how.mode],
            padding_mode=how.padding,
            align_corners=int(how.aligned),
        )
    if how.mode == "cubic":
        raise Refuse("the mode must be linear or nearest below opset 16, which has GridSample")
    return grid_sampled(build, x, grid, how)
