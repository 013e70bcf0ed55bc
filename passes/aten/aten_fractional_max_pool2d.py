"""Replace fractional_max_pool2d by gathering what windows at computed places read.

What it does: Computes from each channel's two random numbers where its windows begin, as PyTorch
    does in the type of the numbers, gathers each element of the windows, and takes the largest and
    its place.
Why engines need it: ONNX has no such operator, no exporter of PyTorch translates it, and no engine
    has an importer for an ATen node.
Before:
    y, i = org.pytorch.aten.ATen <operator = "fractional_max_pool2d"> (x, [2, 2], [8, 8], samples)
After:
    starts = Sub (Cast (Mul (Add ([0, 1, ...], sample), step)), Cast (Mul (sample, step)))
    rows = GatherElements <axis = 2> (x, starts)
    y = GatherElements <axis = 3> (rows, starts)           # and so on for each element of a window
When it refuses: The rank is not 4, the sizes of the images are open or a window does not fit, an
    argument is computed at run time, a window has more than 128 elements, the type is not float32
    or float64 or that of the samples, or the opset is below 11.
Accuracy: Exact, given the samples: elements are moved, and the first largest one has the place. A
    NaN is the largest, and of several the last one has the place. Samples have to be from 0 to
    below 1, as PyTorch draws them.
References: pytorch/pytorch aten/src/ATen/native/FractionalMaxPooling.h (generate_intervals) and
    FractionalMaxPool2d.cpp
"""

import itertools
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._family import Family, Function, ranked

_MOST_ELEMENTS = 128
_SCHEMA = ("self", "kernel_size", "output_size", "random_samples")


def _pair(call: Call | ArrayCall, name: str) -> tuple[int, int]:
    entries = [int(n) for n in call.entries(name) or () if n is not None]
    entries = entries * 2 if len(entries) == 1 else entries
    if len(entries) != 2 or min(entries) < 1:
        raise Refuse(f"{name} must be two numbers of at least 1; it is {entries}")
    return entries[0], entries[1]


def _pooled(call: Call) -> tuple[Value, tuple[int, int], tuple[int, int], tuple[int, int]]:
    """Return the images, and the sizes of images, windows and results."""
    x, rank = ranked(call)
    if rank != 4 or x.type_name not in ("float32", "float64"):
        raise Refuse(
            f"{x.name} must be float32 or float64 of rank 4; it is {x.type_name} of rank {rank}"
        )
    height, width = x.dim(2), x.dim(3)
    kernel, output = _pair(call, "kernel_size"), _pair(call, "output_size")
    if height is None or width is None:
        raise Refuse(f"the sizes of the images of {x.name} must be known; one is open")
    if height < output[0] + kernel[0] - 1 or width < output[1] + kernel[1] - 1:
        raise Refuse(f"windows must fit into the images; they are {height} by {width}")
    return x, (height, width), kernel, output


def _starts(build: Builder, sample: Value, size: int, window: int, output: int) -> Value:
    """Return where windows start along an axis, [N, C, output], of samples [N, C, 1]."""
    last = size - window
    share = (sample.dtype or np.dtype(np.float32)).type
    step = share(last) / share(output - 1) if output > 1 else share(0)
    first = build.Cast(build.Mul(sample, build.constant(np.array(step))), to=TensorProto.INT64)
    ahead = build.constant(np.arange(output, dtype=share))
    raw = build.Mul(build.Add(ahead, sample), build.constant(np.array(step)))
    places = build.Sub(build.Cast(raw, to=TensorProto.INT64), first)
    at_end = build.constant(np.arange(output) == output - 1)
    return build.Where(at_end, build.constant(np.array(last)), places)


def _write(build: Builder, call: Call) -> tuple[Value, Value]:
    x, (height, width), kernel, output = _pooled(call)
    samples, own = ranked(call, "random_samples")
    if own != 3 or samples.elem_type != x.elem_type:
        raise Refuse(f"{samples.name} must be of rank 3 and of the type of {x.name}")
    if kernel[0] * kernel[1] > _MOST_ELEMENTS:
        raise Refuse(f"windows must have at most {_MOST_ELEMENTS} elements")
    # The first number of a channel is for its columns.
    across, down = (
        _starts(
            build, build.Slice(samples, starts=[at], ends=[at + 1], axes=[2]), size, window, count
        )
        for at, size, window, count in (
            (0, width, kernel[1], output[1]), (1, height, kernel[0], output[0])
        )
    )  # fmt: skip
    down, across = build.Unsqueeze(down, axes=[3]), build.Unsqueeze(across, axes=[2])
    wide = build.constant(np.zeros((1, 1, 1, width), np.int64))
    tall = build.constant(np.zeros((1, 1, output[0], 1), np.int64))
    best: Value | None = None
    place: Value | None = None
    lines: dict[int, Value] = {}
    for row, column in itertools.product(range(kernel[0]), range(kernel[1])):
        here = build.Add(down, row) if row else down
        there = build.Add(across, column) if column else across
        if row not in lines:
            lines[row] = build.GatherElements(x, build.Add(here, wide), axis=2)
        part = build.GatherElements(lines[row], build.Add(there, tall), axis=3)
        number = build.Add(build.Mul(here, width), there)
        if best is None or place is None:
            best, place = part, number
            continue
        missing = build.Not(build.Equal(part, part))
        ahead = build.Or(build.Greater(part, best), missing)
        place = build.Where(ahead, number, place)
        best = build.Where(ahead, part, best)
    assert best is not None
    assert place is not None
    return best, place


def _intervals(sample: Any, size: int, window: int, output: int) -> list[int]:
    """Return where windows start, in the type of the sample."""
    kind = sample.dtype.type
    step = kind(size - window) / kind(output - 1) if output > 1 else kind(0)
    found = [int((kind(i) + sample) * step) - int(sample * step) for i in range(output - 1)]
    return [*found, size - window]


def _model(call: ArrayCall) -> Any:
    x, samples = call.need("self"), call.need("random_samples")
    kernel, output = _pair(call, "kernel_size"), _pair(call, "output_size")
    if ((samples < 0) | (samples >= 1)).any() or not np.isfinite(samples).all():
        raise Refuse("samples must be from 0 to below 1; they are not")
    height, width = x.shape[2:]
    values: Array = np.empty((*x.shape[:2], *output), x.dtype)
    places: Array = np.empty(values.shape, np.int64)
    for n, c in np.ndindex(*x.shape[:2]):
        tops = _intervals(samples[n, c, 1], height, kernel[0], output[0])
        lefts = _intervals(samples[n, c, 0], width, kernel[1], output[1])
        for (i, top), (j, left) in itertools.product(enumerate(tops), enumerate(lefts)):
            box: Any = (slice(top, top + kernel[0]), slice(left, left + kernel[1]))
            window: Array = x[n, c][box].ravel()
            gone = np.flatnonzero(np.isnan(window))
            at = int(gone[-1] if gone.size else window.argmax())
            values[n, c, i, j] = window[at]
            places[n, c, i, j] = (top + at // kernel[1]) * width + left + at % kernel[1]
    return values, places


FAMILY = Family({"fractional_max_pool2d": Function(_SCHEMA, _write, _model)})


aten_fractional_max_pool2d = FAMILY.replaced(
    __name__,
    emits="Add Cast Equal GatherElements Greater Mul Not Or Slice Sub Unsqueeze Where",
    opset=11,
)
