"""Replace im2col (unfold) by Gather with constant indices.

What it does: Lays out what a sliding window reads as columns. With a known image size, the pixel of
    every sample is known: the image is flattened, a zero is put after it for the padding, and one
    Gather reads the columns.
Why engines need it: ONNX has no such operator, and PyTorch's exporter writes an ATen node below
    opset 11.
Before: y = org.pytorch.aten.ATen <operator = "im2col"> (x, [3, 3], [1, 1], [1, 1], [1, 1])
After:
    flat = Concat <axis = 2> (Reshape (x, [N, C, H * W]), zero)
    y = Reshape (Gather <axis = 2> (flat, places[9, L]), [N, C * 9, L])
When it refuses: The geometry is computed at run time, the rank, the type or the image size is
    unknown, no window fits, or there would be more than 16 million indices.
Accuracy: Exact, bit by bit: elements only change their places.
References: pytorch/pytorch aten/src/ATen/native/Im2Col.cpp;
    https://onnx.ai/onnx/operators/onnx__Gather.html
"""

from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value

from ._arguments import ArrayCall, call_of, replacing
from ._axes import batched, spatial_input
from ._columns import GEOMETRY, LARGEST, Windows, windows_of, windows_of_arrays, with_zero

NAMES = ("im2col",)
SCHEMA = ("self", *GEOMETRY)


def _read(node: NodeView) -> tuple[Value, Windows, tuple[int, int]]:
    """Return the images, the windows, and the height and width of the images."""
    call = call_of(node, {"im2col": SCHEMA})
    x = call.need("self")
    spatial_input(x, 2)
    windows = windows_of(call)
    height, width = x.dim(-2), x.dim(-1)
    if not height or not width:
        raise Refuse(f"the image size of {x.name} must be known and not 0")
    counts = windows.counts((height, width))
    if min(counts) < 1:
        raise Refuse(f"a window must fit into the image; none fits into {height} by {width} pixels")
    return x, windows, (height, width)


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Pad, and cut out sample by sample."""
    call = ArrayCall(inputs, attributes, SCHEMA)
    x, windows = call.need("self"), windows_of_arrays(call)
    rows, columns = windows.counts((x.shape[-2], x.shape[-1]))
    (down, across), (step, stride) = windows.padding, windows.stride
    sides = [(0, 0)] * (x.ndim - 2) + [(down, down), (across, across)]
    padded = np.pad(x, sides)
    cuts: list[Array] = []
    for i in range(windows.kernel[0]):
        for j in range(windows.kernel[1]):
            top, left = i * windows.dilation[0], j * windows.dilation[1]
            cuts.append(
                padded[
                    ...,
                    top : top + step * (rows - 1) + 1 : step,
                    left : left + stride * (columns - 1) + 1 : stride,
                ]
            )
    stacked = np.stack(cuts, axis=-3)
    shape = (*x.shape[:-3], x.shape[-3] * windows.samples, rows * columns)
    return (stacked.reshape(shape),)


@replacing(NAMES, emits="Concat Gather Pad Reshape Squeeze Unsqueeze", evaluate=evaluate)
def aten_im2col(node: NodeView, build: Builder) -> Value:
    """Gather the columns, see the module."""
    x, windows, image = _read(node)
    down, across = windows.counts(image)
    if windows.samples * down * across > LARGEST:
        raise Refuse(
            f"there must be at most {LARGEST} indices; there are {windows.samples * down * across}"
        )
    places = windows.places(image)

    def work(images: Value) -> Value:
        flat = build.Reshape(images, [0, 0, image[0] * image[1]])
        columns = build.Gather(with_zero(build, flat, places), places, axis=2)
        channels = images.dim(1)
        rows = -1 if channels is None else channels * windows.samples
        return build.Reshape(columns, [0, rows, down * across])

    return batched(build, x, 2, work)
