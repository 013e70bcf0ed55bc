"""Replace col2im (fold) by Gather with constant indices and a sum.

What it does: Adds up columns at the pixels that a sliding window would read. With a known image
    size it is known which entries of the columns belong to a pixel: the columns are flattened, one
    Gather reads them pixel by pixel (a zero where a pixel has fewer than others), and a MatMul with
    ones adds them. Where every pixel has one entry only, nothing is added.
Why engines need it: ONNX has Col2Im since opset 18, which engines do not know, and PyTorch's
    exporter writes an ATen node below.
Before: y = org.pytorch.aten.ATen <operator = "col2im"> (x, [6, 7], [3, 3], [1, 1], [1, 1], [1, 1])
After:
    flat = Concat <axis = 2> (Reshape (x, [N, C, 9 * L]), zero)
    parts = Gather <axis = 2> (flat, places[9, 42])
    y = Reshape (MatMul (ones[1, 9], parts), [N, C, 6, 7])
When it refuses: The geometry is computed at run time, the rank or the type or the number of rows is
    unknown, the columns are not as many as windows fit, or there would be more than 16 million
    indices.
Accuracy: Exact up to the order of summation. float16 and bfloat16 are added in float32. Infinities
    and NaN stay in their pixels.
References: pytorch/pytorch aten/src/ATen/native/Col2Im.cpp;
    https://onnx.ai/onnx/operators/onnx__Gather.html
"""

from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value

from ._arguments import ArrayCall, call_of, replacing
from ._axes import batched, spatial_input, widened
from ._columns import GEOMETRY, LARGEST, Windows, windows_of, windows_of_arrays, with_zero

NAMES = ("col2im",)
SCHEMA = ("self", "output_size", *GEOMETRY)


def _read(node: NodeView) -> tuple[Value, Windows, tuple[int, int], int]:
    """Return the columns, the windows, the image's height and width, and the channels."""
    call = call_of(node, {"col2im": SCHEMA})
    x = call.need("self")
    spatial_input(x, 1)
    windows, given = windows_of(call), call.integers("output_size")
    if given is None or len(given) != 2 or min(given) < 1:
        raise Refuse(f"output_size must be two positive numbers; it is {given}")
    image = (given[0], given[1])
    down, across = windows.counts(image)
    rows = x.dim(-2)
    if not rows or rows % windows.samples:
        raise Refuse(f"the rows must be known and a multiple of the {windows.samples} of a window")
    if min(down, across) < 1 or x.dim(-1) not in (None, down * across):
        raise Refuse(
            f"there must be a column for each of {down} by {across} windows; there are {x.dim(-1)}"
        )
    return x, windows, image, rows // windows.samples


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Add up column by column."""
    call = ArrayCall(inputs, attributes, SCHEMA)
    x, windows = call.need("self"), windows_of_arrays(call)
    height, width = (int(n) for n in call.entries("output_size") or ())
    places = windows.places((height, width))
    channels = x.shape[-2] // windows.samples
    columns = x.reshape(-1, channels, *places.shape)
    sums = np.zeros((len(columns), channels, height * width + 1), dtype=x.dtype)
    for sample in range(windows.samples):
        for window in range(places.shape[1]):
            sums[:, :, places[sample, window]] += columns[:, :, sample, window]
    images = np.ascontiguousarray(sums[:, :, :-1])
    return (images.reshape(*x.shape[:-2], channels, height, width),)


def _entries(windows: Windows, image: tuple[int, int]) -> Array:
    """Return which entries of the flattened columns each pixel adds up: int64 [most, pixels].

    One past the last entry stands for a zero.
    """
    places = windows.places(image).ravel()
    pixels = image[0] * image[1]
    order = np.argsort(places, kind="stable")
    order = order[places[order] < pixels]
    owner = places[order]
    counts = np.bincount(owner, minlength=pixels)
    depth = np.arange(len(order)) - (np.cumsum(counts) - counts)[owner]
    entries = np.full((max(int(counts.max()), 1), pixels), len(places), dtype=np.int64)
    entries[depth, owner] = order
    return entries


@replacing(
    NAMES,
    emits="Cast Concat Gather MatMul Pad Reshape Squeeze Unsqueeze",
    evaluate=evaluate,
)
def aten_col2im(node: NodeView, build: Builder) -> Value:
    """Gather and add, see the module."""
    x, windows, image, channels = _read(node)
    down, across = windows.counts(image)
    if max(windows.samples * down * across, image[0] * image[1]) > LARGEST:
        raise Refuse(f"there must be at most {LARGEST} indices; there are more")
    entries = _entries(windows, image)
    most = len(entries)
    if entries.size > LARGEST:
        raise Refuse(f"there must be at most {LARGEST} indices; there are {entries.size}")

    def work(columns: Value) -> Value:
        flat = build.Reshape(columns, [0, channels, windows.samples * down * across])
        flat = with_zero(build, flat, entries)
        if most == 1:
            parts = build.Gather(flat, entries[0], axis=2)
        else:
            ones: Array = np.ones((1, 1, 1, most), dtype=columns.dtype)
            parts = build.MatMul(ones, build.Gather(flat, entries, axis=2))
        return build.Reshape(parts, [0, channels, *image])

    return batched(build, x, 1, lambda columns: widened(build, columns, work))
