"""Replace antialiased resizing by constant products.

What it does: Handles _upsample_bilinear2d_aa, _upsample_bicubic2d_aa and _upsample_lanczos2d_aa,
    with output sizes or factors. Each new pixel is a weighted mean of those below its filter, which
    is as much wider as the image shrinks; along each axis that is one product with a constant
    matrix.
Why engines need it: Resize has antialias from opset 18 on, and few engines know it; PyTorch's
    exporter writes an ATen node below.
Before: y = org.pytorch.aten.ATen <operator = "_upsample_bilinear2d_aa"> (x, [3, 3], False, None)
After:
    rows = MatMul (x, columns)                                # columns: float[1, 1, 20, 3]
    y = MatMul (lines, rows)                                  # lines: float[1, 1, 3, 10]
When it refuses: Size or factors are computed at run time, a size of a resized axis, the rank or the
    dtype is unknown, the type is not floating point, or a factor that was stored in float32 does
    not say what the output size is.
Accuracy: Exact up to rounding: PyTorch computes the weights in float32, here they are computed in
    float64 and rounded once. float16 and bfloat16 are computed in float32. An infinity or NaN
    spreads along its row and column, because it is multiplied by zero there.
References: pytorch/pytorch aten/src/ATen/native/cpu/UpSampleKernel.cpp
    (_compute_indices_min_size_weights_aa)
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from graphfix.authoring import (
    Array,
    Builder,
    NodeView,
    Refuse,
    Value,
    listed,
    operator_of,
)

from ._arguments import replacing
from ._axes import FLOATS, widened
from ._upsampling import lines_of_arrays, resampled, upsampling_of

_CUBIC = -0.5  # the A of the filter, as Pillow has it


def _triangle(x: Array) -> Array:
    found: Array = np.maximum(1 - np.abs(x), 0)
    return found


def _cubic(x: Array) -> Array:
    x = np.abs(x)
    near = ((_CUBIC + 2) * x - (_CUBIC + 3)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * _CUBIC
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def _lanczos(x: Array) -> Array:
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


# The filter, and how many pixels it is wide.
_FILTERS: dict[str, tuple[Callable[[Array], Array], int]] = {
    "_upsample_bilinear2d_aa": (_triangle, 2),
    "_upsample_bicubic2d_aa": (_cubic, 4),
    "_upsample_lanczos2d_aa": (_lanczos, 6),
}
NAMES = tuple(_FILTERS)


def _ratio(size: int, output: int, *, align: bool, scale: float | None) -> float:
    """Return how many pixels one new pixel stands for."""
    if align:
        return (size - 1) / (output - 1) if output > 1 else 0.0
    return size / output if scale is None else 1 / scale


def weights(operator: str, size: int, output: int, ratio: float) -> Array:
    """Return how much of each pixel each new one has, [output, size]."""
    kernel, width = _FILTERS[operator]
    spread = max(ratio, 1.0)
    reach = width / 2 * spread
    middles = ratio * (np.arange(output) + 0.5)
    first = np.maximum((middles - reach + 0.5).astype(np.int64), 0)
    last = np.minimum((middles + reach + 0.5).astype(np.int64), size)
    pixels = np.arange(size)
    found = kernel((pixels - middles[:, None] + 0.5) / spread)
    below = (pixels >= first[:, None]) & (pixels < last[:, None])
    found = np.where(below, found, 0.0)
    whole: Array = found.sum(axis=1, keepdims=True)
    return found / np.where(whole == 0, 1, whole)


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Take each new line by itself, in float64."""
    x, align, lines = lines_of_arrays(inputs, attributes, nearest=False)
    operator = str(attributes["operator"]).removeprefix("aten::").partition(".")[0]
    result = x.astype(np.float64)
    for axis, (output, scale) in enumerate(lines, start=2):
        size = x.shape[axis]
        shares = weights(operator, size, output, _ratio(size, output, align=align, scale=scale))
        moved = np.moveaxis(result, axis, -1)
        parts = [(moved * line).sum(-1) for line in shares]
        result = np.moveaxis(np.stack(parts, -1), -1, axis)
    return (result.astype(x.dtype),)


@replacing(NAMES, emits="Cast Identity MatMul Transpose", evaluate=evaluate)
def aten_upsample_antialiased(node: NodeView, build: Builder) -> Value:
    """Weigh with constant products, see the module."""
    found = upsampling_of(node, NAMES)
    if found.x.elem_type not in FLOATS:
        raise Refuse(f"{found.x.name} must be {listed(FLOATS)}; it is {found.x.type_name}")
    if not found.is_static:
        raise Refuse(f"the sizes of the resized axes of {found.x.name} must be known; one is open")
    operator, _ = operator_of(node)

    def shares(size: int, output: int, scale: float | None) -> Array:
        return weights(operator, size, output, _ratio(size, output, align=found.align, scale=scale))

    return widened(build, found.x, lambda x: resampled(build, x, found, shares))
