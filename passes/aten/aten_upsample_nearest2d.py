"""Replace nearest upsampling by Gather with constant indices, or by Resize where sizes are dynamic.

What it does: Handles upsample_nearest1d, 2d and 3d and _upsample_nearest_exact1d, 2d and 3d, with
    output sizes or factors: one Gather along each axis. Where the size of an image is not known and
    the factors are whole, upsample_nearest2d becomes Resize with asymmetric coordinates.
Why engines need it: Exporters that could not express an upsampling wrote an ATen node, which
    engines do not know.
Before:
    y = org.pytorch.aten.ATen <operator = "upsample_nearest2d"> (x, [6, 7])   # x: float[1, 2, 3, 5]
After:
    lines = Gather <axis = 2> (x, [0, 0, 1, 1, 2, 2])
    y = Gather <axis = 3> (lines, [0, 0, 1, 2, 2, 3, 4])
When it refuses: Size or factors are computed at run time, rank or dtype are unknown, a factor that
    was stored in float32 does not say which samples are taken, or a size is dynamic and the factors
    are not whole or the opset is older than 11.
Accuracy: Exact: the samples that PyTorch takes, with places computed in float32 as it does.
References: pytorch/pytorch aten/src/ATen/native/UpSample.h (nearest_neighbor_compute_source_index,
    nearest_neighbor_exact_compute_source_index, compute_scales_value);
    https://onnx.ai/onnx/operators/onnx__Gather.html
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, InferredType, NodeView, Refuse, Value

from ._arguments import replacing
from ._upsampling import Line, lines_of_arrays, resized, upsampled_shape, upsampling_of

NAMES = tuple(
    f"{stem}{n}d" for stem in ("upsample_nearest", "_upsample_nearest_exact") for n in (1, 2, 3)
)


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """The resampled axes get the output size."""
    return (InferredType(*upsampled_shape(node, NAMES)),)


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Take the samples one by one."""
    shift = 0.5 if "exact" in str(attributes["operator"]) else 0.0
    x, _, lines = lines_of_arrays(inputs, attributes, nearest=True)
    for axis, (output, scale) in enumerate(lines, start=2):
        ratio = np.float32(1 / scale) if scale else np.float32(x.shape[axis] / output)
        places = [
            min(int((np.float32(i) + np.float32(shift)) * ratio), x.shape[axis] - 1)
            for i in range(output)
        ]
        x = x.take(places, axis)
    return (x,)


@replacing(NAMES, emits="Concat Gather Resize Shape Slice", infer=infer, evaluate=evaluate)
def aten_upsample_nearest2d(node: NodeView, build: Builder) -> Value:
    """Take the samples that PyTorch takes, see the module."""
    found = upsampling_of(node, NAMES)
    shift = 0.5 if "exact" in (node.op + str(node.attr("operator", ""))) else 0.0
    if found.is_static:
        x = found.x
        for line in found.lines:
            places = _places(line, shift)
            if not np.array_equal(places, np.arange(line.size or 0)):
                x = build.Gather(x, places, axis=line.axis)
        return x
    whole = all(len(s.scales) == 1 and s.scales[0].is_integer() for s in found.lines)
    if found.sized or not whole or len(found.lines) != 2:
        raise Refuse("the sizes of resampled axes must be known")
    # With a whole factor both variants repeat every sample.
    return resized(
        build, found, "nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"
    )


def _places(line: Line, shift: float) -> Array:
    """Return the samples that are taken along an axis."""
    assert line.size is not None
    assert line.output is not None
    ratios = [np.float32(1.0 / scale) for scale in line.scales]
    if not ratios:
        ratios = [np.float32(line.size) / np.float32(line.output)]
    if line.scales and line.size == line.output and line.scales[0] != 1.0:
        raise Refuse(
            "the factor must change the size or be 1; where it leaves it as it is, PyTorch's "
            "kernels differ"
        )
    numbers = np.arange(line.output, dtype=np.float32) + np.float32(shift)
    found: list[Array] = [
        np.minimum(np.floor(numbers * ratio), line.size - 1).astype(np.int64) for ratio in ratios
    ]
    if any(not np.array_equal(found[0], other) for other in found[1:]):
        raise Refuse(
            f"the rounding of the factor {line.scales[0]} must not decide which samples are taken"
        )
    return found[0]
