"""Replace linear upsampling by constant products, or by Resize where sizes are dynamic.

What it does: Handles upsample_linear1d, upsample_bilinear2d and upsample_trilinear3d, with output
    sizes or factors, corners aligned or not. Interpolation is linear along each axis, so it is one
    product with a constant matrix per axis. Where the size of an image is not known, bilinear
    upsampling becomes Resize with coordinates align_corners or half_pixel.
Why engines need it: Before opset 11 ONNX could not align corners, and PyTorch wrote an ATen node;
    ONNX Runtime's training exporter writes it for every bilinear upsampling.
Before: y = org.pytorch.aten.ATen <operator = "upsample_bilinear2d"> (x, [10, 12], 1)
After:
    rows = MatMul (x, columns)                                # columns: float[1, 1, 6, 12]
    y = MatMul (lines, rows)                                  # lines: float[1, 1, 10, 5]
When it refuses: Size or factors are computed at run time, rank or dtype are unknown, the type is
    not floating point, a factor that was stored in float32 does not say what the output size is, or
    a size is dynamic and the operator is not bilinear, the opset is older than 11, or corners are
    aligned with a factor that is not whole.
Accuracy: Exact up to rounding: PyTorch computes the places of the samples in float32, here the
    weights are computed in float64 and rounded once. float16 and bfloat16 are computed in float32.
    An infinity or NaN spreads along its row and column, because it is multiplied by zero there.
References: pytorch/pytorch aten/src/ATen/native/UpSample.h (area_pixel_compute_source_index,
    scales); https://onnx.ai/onnx/operators/onnx__Resize.html
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, InferredType, NodeView, Refuse, Value, listed

from ._arguments import replacing
from ._axes import FLOATS, widened
from ._upsampling import lines_of_arrays, resampled, resized, upsampled_shape, upsampling_of

NAMES = ("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d")


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """The resampled axes get the output size."""
    return (InferredType(*upsampled_shape(node, NAMES)),)


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Interpolate between neighbours along each axis in float64."""
    x, align, lines = lines_of_arrays(inputs, attributes, nearest=False)
    result = x.astype(np.float64)
    for axis, (output, scale) in enumerate(lines, start=2):
        size = x.shape[axis]
        step = (size - 1) / max(output - 1, 1) if align else 1 / scale if scale else size / output
        parts: list[Array] = []
        for number in range(output):
            place = number * step if align else max((number + 0.5) * step - 0.5, 0.0)
            low = min(int(place), size - 1)
            share = min(place - low, 1.0)
            below, above = result.take(low, axis), result.take(min(low + 1, size - 1), axis)
            parts.append(np.asarray(below + share * (above - below)))
        result = np.stack(parts, axis=axis)
    return (result.astype(x.dtype),)


@replacing(
    NAMES, emits="Cast Concat MatMul Resize Shape Slice Transpose", infer=infer, evaluate=evaluate
)
def aten_upsample_bilinear2d(node: NodeView, build: Builder) -> Value:
    """Interpolate with constant products, see the module."""
    found = upsampling_of(node, NAMES)
    if found.x.elem_type not in FLOATS:
        raise Refuse(f"{found.x.name} must be {listed(FLOATS)}; it is {found.x.type_name}")
    if found.is_static:
        weights = partial(interpolation, align=found.align)
        return widened(build, found.x, lambda x: resampled(build, x, found, weights))
    if len(found.lines) != 2:
        raise Refuse("the sizes of resampled axes must be known")
    whole = all(line.scales and line.scales[0].is_integer() for line in found.lines)
    if found.align and not found.sized and not whole:
        raise Refuse("the factor must be whole where corners are aligned; it leaves the size open")
    mode = "align_corners" if found.align else "half_pixel"
    return resized(build, found, "linear", coordinate_transformation_mode=mode)


def interpolation(size: int, output: int, scale: float | None, *, align: bool) -> Array:
    """Return the weights of linear interpolation, [output, size]."""
    if align:
        places = np.arange(output) * ((size - 1) / (output - 1) if output > 1 else 0.0)
    else:
        ratio = size / output if scale is None else 1 / scale
        places = np.maximum((np.arange(output) + 0.5) * ratio - 0.5, 0.0)
    low = np.minimum(np.floor(places).astype(np.int64), size - 1)
    high = np.minimum(low + 1, size - 1)
    share = np.clip(places - low, 0.0, 1.0)
    matrix = np.zeros((output, size))
    rows = np.arange(output)
    np.add.at(matrix, (rows, low), 1.0 - share)
    np.add.at(matrix, (rows, high), share)
    return matrix
