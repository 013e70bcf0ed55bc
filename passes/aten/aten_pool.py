"""Replace pooling that torch.onnx leaves as ATen nodes by pooling of ONNX, or by slices.

What it does: avg_pool1d to 3d become AveragePool, max_pool1d to 3d (with_indices as well) MaxPool.
    Windows that hang over at the end are padded; where the divisor is another than ONNX has, sums
    are divided by a constant for each place. Integers are added or compared slice by slice. Where
    sizes are open, as much is padded as the last window can hang over, and counted at run time.
Why engines need it: Exporters that are told to write ATen nodes (OperatorExportTypes.ONNX_ATEN)
    write these too, and no engine has an importer for them.
Before: y = org.pytorch.aten.ATen <operator = "max_pool1d"> (x, [3], [2], [0], [1], False)
After: y = MaxPool <kernel_shape = [3], strides = [2]> (x)
When it refuses: An argument is computed at run time; windows of integers are padded and dilated;
    windows of more than 128 elements are of integers or their indices are used; or the opset is
    below 11, or 12 where integers along axes of open sizes are compared.
Accuracy: Exact; means of floats up to rounding and the order of sums.
References: pytorch/pytorch aten/src/ATen/native/Pool.h, AveragePool2d.cpp, DilatedMaxPool2d.cpp;
    https://onnx.ai/onnx/operators/onnx__AveragePool.html
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from graphfix.authoring import (
    FAR,
    Array,
    Builder,
    Refuse,
    Value,
    along,
    counted,
    size_of,
)

from ._arguments import ArrayCall, Call
from ._arithmetic import is_float, larger
from ._axes import batched
from ._family import Family, Function, ranked
from ._windows import Windows, divisors, offsets, windows_of

_MOST_SLICES = 128


def _pooled(call: Call, axes: int) -> tuple[Value, tuple[Windows, ...]]:
    x, rank = ranked(call)
    if rank not in (axes + 1, axes + 2):
        raise Refuse(f"the rank of {x.name} must be {axes + 1} or {axes + 2}; it is {rank}")
    return x, windows_of(call, tuple(x.dim(axis - axes) for axis in range(axes)))


def _pads(windows: Sequence[Windows]) -> list[int]:
    return [w.pad for w in windows] + [w.pad + w.further for w in windows]


def _slices(build: Builder, x: Value, windows: tuple[Windows, ...], mode: str) -> list[Value]:
    """Return the elements of all windows, one tensor for each of their places.

    Raises:
        Refuse: A window has many elements.
    """
    if prod(w.kernel for w in windows) > _MOST_SLICES:
        raise Refuse(f"windows of integers must have at most {_MOST_SLICES} elements")
    rank, first = x.rank or 0, (x.rank or 0) - len(windows)
    x = _padded(build, x, _pads(windows), -np.inf if is_float(x) else None, mode)
    found: list[Value] = []
    for start in offsets(windows):
        ends = [_end(a, w) for a, w in zip(start, windows, strict=True)]
        found.append(build.Slice(
            x, starts=list(start), ends=ends, axes=list(range(first, rank)),
            steps=[w.stride for w in windows],
        ))  # fmt: skip
    return found


def _end(start: int, window: Windows) -> int:
    """Return where the elements of all windows end that be at a place; from the end if open."""
    if window.count is not None:
        return start + (window.count - 1) * window.stride + 1
    return start + 1 - window.reach if start + 1 < window.reach else FAR


def _starts(build: Builder, part: Value, windows: Sequence[Windows]) -> list[Value]:
    """Return where windows start along each axis, in the rank of what is pooled.

    Args:
        build: The builder.
        part: Something that has one element for each window.
        windows: The windows along the last axes.
    """
    rank = part.rank or 0
    found: list[Value] = []
    for axis, window in enumerate(windows, rank - len(windows)):
        numbers = along(counted(part, axis, build), axis, rank, build)
        found.append(build.Sub(build.Mul(numbers, window.stride), window.pad))
    return found


def _shares(
    build: Builder, x: Value, part: Value, windows: Sequence[Windows], *, padded: bool
) -> Value:
    """Return what the sum of each window is divided by, where sizes are open; int64."""
    rank, found = x.rank or 0, None
    for axis, (start, window) in enumerate(
        zip(_starts(build, part, windows), windows, strict=True), rank - len(windows)
    ):
        size = size_of(x, axis, build)
        most = size + window.pad if isinstance(size, int) else build.Add(size, window.pad)
        end = build.Min(build.Add(start, window.kernel), most)
        if not padded:
            start, end = build.Max(start, np.int64(0)), build.Min(end, size)
        count = build.Sub(end, start)
        found = count if found is None else build.Mul(found, count)
    assert found is not None  # there is an axis
    return found


def _padded(build: Builder, x: Value, pads: list[int], fill: float | None, mode: str) -> Value:
    if not any(pads):
        return x
    half = len(pads) // 2
    front = [0] * ((x.rank or 0) - half)
    every = [*front, *pads[:half], *front, *pads[half:]]
    how = {} if fill is None else {"constant_value": np.array(fill, x.dtype)}
    return build.Pad(x, pads=every, mode=mode, **how)


def _window_pads(
    build: Builder, x: Value, windows: tuple[Windows, ...], fill: float
) -> tuple[Value, list[int]]:
    """Return what is pooled and its pads; onnxruntime takes none as large as a window."""
    pads = _pads(windows)
    kernels = [w.kernel for w in windows] * 2
    if any(pad >= kernel for pad, kernel in zip(pads, kernels, strict=True)):
        return _padded(build, x, pads, fill, "constant"), []
    return x, pads


def _overhang(windows: Sequence[Windows]) -> bool:
    """Say whether windows have different numbers of elements, and not known how many."""
    return any(w.size is None for w in windows) and any(_pads(windows))


def _mean(build: Builder, call: Call, axes: int) -> Value:
    x, windows = _pooled(call, axes)
    padded = bool(call.number("count_include_pad", 1))
    given = call.number("divisor_override") if "divisor_override" in call.schema else None
    if not is_float(x):
        parts = _slices(build, x, windows, "constant")
        total = parts[0]
        for part in parts[1:]:
            total = build.Add(total, part)
        if given is None and _overhang(windows):
            counts = _shares(build, x, total, windows, padded=padded)
            return build.Div(total, build.Cast(counts, to=x.elem_type))
        if given is None and any(w.size is None for w in windows):
            given = prod(w.kernel for w in windows)
        by = np.array(int(given)) if given is not None else divisors(windows, padded=padded)
        return build.Div(total, build.constant(by.astype(x.dtype)))
    how: dict[str, Any] = {
        "kernel_shape": [w.kernel for w in windows], "strides": [w.stride for w in windows],
    }  # fmt: skip
    pads = _pads(windows)
    if given is None and not any(w.further for w in windows):
        how |= {"pads": pads} if any(pads) else {}
        how |= {"count_include_pad": 1} if padded and any(pads) else {}
        return batched(build, x, axes, lambda v: build.AveragePool(v, **how))
    if given is None and _overhang(windows):
        # What is padded counts, what hangs over does not.
        if padded:
            own = [w.pad for w in windows]
            x = _padded(build, x, [*own, *own], 0, "constant")
            pads = [*(0 for _ in own), *(w.further for w in windows)]
        how |= {"pads": pads}
        return batched(build, x, axes, lambda v: build.AveragePool(v, **how))
    by = divisors(windows, padded=padded) if given is None else np.array(int(given))
    share = np.asarray(prod(w.kernel for w in windows) / by).astype(x.dtype)
    x, pads = _window_pads(build, x, windows, 0)
    how |= {"pads": pads, "count_include_pad": 1} if any(pads) else {}
    whole = batched(build, x, axes, lambda v: build.AveragePool(v, **how))
    return build.Mul(whole, build.constant(share))


def _largest(build: Builder, call: Call, axes: int) -> Value | tuple[Value | None, ...]:
    x, windows = _pooled(call, axes)
    indices = call.node.output(1)
    wanted = indices is not None and indices.is_used
    if not is_float(x):
        if any(w.dilation > 1 for w in windows) and any(_pads(windows)):
            raise Refuse("windows of integers must not be dilated where they are padded; they are")
        if wanted:
            return _placed(build, x, windows)
        # What is repeated at an edge is in the window already.
        parts = _slices(build, x, windows, "edge")
        best = parts[0]
        for part in parts[1:]:
            best = larger(build, best, part)
        return best
    how: dict[str, Any] = {
        "kernel_shape": [w.kernel for w in windows], "strides": [w.stride for w in windows],
    }  # fmt: skip
    if wanted:
        return _placed(build, x, windows)
    x, pads = _window_pads(build, x, windows, -np.inf)
    how |= {"pads": pads} if any(pads) else {}
    if any(w.dilation > 1 for w in windows):
        how["dilations"] = [w.dilation for w in windows]
    return batched(build, x, axes, lambda v: build.MaxPool(v, **how))


def _placed(build: Builder, x: Value, windows: tuple[Windows, ...]) -> tuple[Value, Value]:
    """Return the largest of each window, and its place among the elements of its channel."""
    parts = _slices(build, x, windows, "constant" if is_float(x) else "edge")
    if any(w.size is None for w in windows) or (not is_float(x) and any(_pads(windows))):
        numbers, starts = _counted_numbers(build, x, parts[0], windows), None
    else:
        known, starts = _numbers(windows)
        numbers = [build.constant(np.array(number)) for number in known]
    best, place = parts[0], numbers[0]
    for part, number in zip(parts[1:], numbers[1:], strict=True):
        ahead = build.Greater(part, best)
        place = build.Where(ahead, number, place)
        best = build.Where(ahead, part, best)
    place = place if starts is None else build.Add(place, starts)
    if len(parts) == 1:  # nothing is compared, which would give the place its shape
        place = build.Expand(place, build.Shape(best))
    return best, place


def _counted_numbers(
    build: Builder, x: Value, part: Value, windows: tuple[Windows, ...]
) -> list[Value]:
    """Return the place of each element of all windows; in the padding, of the nearest element.

    What is padded there repeats that element, or is less than any.
    """
    rank, starts = x.rank or 0, _starts(build, part, windows)
    sizes = [size_of(x, axis, build) for axis in range(rank - len(windows), rank)]
    lines: dict[tuple[int, int], Value] = {}
    found: list[Value] = []
    for at in offsets(windows):
        number: Value | None = None
        for axis, (offset, window) in enumerate(zip(at, windows, strict=True)):
            if (axis, offset) not in lines:
                line = build.Add(starts[axis], offset)
                if window.pad or window.further:
                    size = sizes[axis]
                    last = size - 1 if isinstance(size, int) else build.Sub(size, np.int64(1))
                    line = build.Max(build.Min(line, last), np.int64(0))
                lines[axis, offset] = line
            line = lines[axis, offset]
            number = line if number is None else build.Add(build.Mul(number, sizes[axis]), line)
        assert number is not None  # there is an axis
        found.append(number)
    return found


def _numbers(windows: Sequence[Windows]) -> tuple[list[int], Array]:
    """Return how far each element of a window is from its start, and where windows start."""
    steps = [prod(w.size or 0 for w in windows[at + 1 :]) for at in range(len(windows))]
    starts: Array = np.zeros((1,) * len(windows), np.int64)
    for axis, (window, step) in enumerate(zip(windows, steps, strict=True)):
        lined = [-1 if at == axis else 1 for at in range(len(windows))]
        at = np.arange(window.count or 0, dtype=np.int64) * window.stride - window.pad
        starts = starts + (at * step).reshape(lined)
    each = [sum(a * s for a, s in zip(at, steps, strict=True)) for at in offsets(tuple(windows))]
    return each, starts


def _of_windows(call: ArrayCall, axes: int, fill: Any) -> tuple[Array, tuple[Windows, ...]]:
    """Return the elements of all windows along a new first axis."""
    x = call.need("self")
    windows = windows_of(call, x.shape[-axes:])
    if 0 in x.shape[-axes - 1 :]:
        raise Refuse("there must be channels; there are none")  # as PyTorch does
    pads = _pads(windows)
    pairs = [(0, 0)] * (x.ndim - axes) + list(zip(pads[:axes], pads[axes:], strict=True))
    wide = np.pad(x, pairs, constant_values=fill)
    parts: list[Array] = []
    for start in offsets(windows):
        cuts: Any = [
            slice(a, a + ((w.count or 0) - 1) * w.stride + 1, w.stride)
            for a, w in zip(start, windows, strict=True)
        ]
        every: Any = (..., *cuts)
        parts.append(wide[every])
    return np.stack(parts), windows


def _mean_model(call: ArrayCall, axes: int) -> Any:
    parts, windows = _of_windows(call, axes, 0)
    given = call.number("divisor_override") if "divisor_override" in call.schema else None
    by = divisors(windows, padded=bool(call.number("count_include_pad", 1)))
    total = parts.sum(0, dtype=np.float64 if parts.dtype.kind == "f" else parts.dtype)
    if parts.dtype.kind == "f":
        return (total / (by if given is None else given)).astype(parts.dtype)
    whole = np.asarray(by if given is None else int(given)).astype(total.dtype)
    low = total // whole
    # Rounded towards 0.
    up = (low * whole != total) & ((total < 0) != (whole < 0))
    return (low + up).astype(parts.dtype)


def _largest_model(call: ArrayCall, axes: int, results: int) -> Any:
    x = call.need("self")
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    parts, windows = _of_windows(call, axes, lowest)
    values = parts.max(0)
    if results == 1:
        return values
    numbers, starts = _numbers(windows)
    return values, np.array(numbers)[parts.argmax(0)] + starts


def _averaging(axes: int, *further: str) -> Function:
    schema = ("self", "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad")
    return Function(
        (*schema, *further),
        lambda build, call: _mean(build, call, axes),
        lambda call: _mean_model(call, axes),
    )


def _taking(axes: int, results: int) -> Function:
    return Function(
        ("self", "kernel_size", "stride", "padding", "dilation", "ceil_mode"),
        lambda build, call: _largest(build, call, axes),
        lambda call: _largest_model(call, axes, results),
    )


FAMILY = Family({
    "avg_pool1d": _averaging(1),
    "avg_pool2d": _averaging(2, "divisor_override"),
    "avg_pool3d": _averaging(3, "divisor_override"),
    **{f"max_pool{n}d": _taking(n, 1) for n in (1, 2, 3)},
    **{f"max_pool{n}d_with_indices": _taking(n, 2) for n in (1, 2, 3)},
})  # fmt: skip


aten_pool = FAMILY.replaced(
    __name__,
    emits=(
        "Add AveragePool Cast Div Expand Gather Greater Less Max MaxPool Min Mul Pad Range Reshape "
        "Shape Slice Squeeze Sub Unsqueeze Where"
    ),
    opset=11,
)
