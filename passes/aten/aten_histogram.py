"""Replace histogram by comparing each number with the edges of all bins.

What it does: Lays the edges of the bins evenly between the least and the largest number, or those
    that are given, or takes edges that are given, and adds up the weights of the numbers in each
    bin; the last one has its upper edge, too. A density is divided by the sum and the width of the
    bin.
Why engines need it: ONNX has no such operator, no exporter of PyTorch translates it, and no engine
    has an importer for an ATen node.
Before:
    h, e = org.pytorch.aten.ATen <operator = "histogram", overload_name = "bins_tensor"> (x, edges)
After:
    inside = And (Or (Greater (x, low), Equal (x, low)), Or (Less (x, high), ...))  # [bins, N]
    h = ReduceSum <axes = [1]> (Where (inside, 1, 0))
When it refuses: The rank or type is unknown or no float32 or float64, there are known to be no bins
    or more than 4096, an argument is computed at run time, the weights have another type, the
    tensor is known to be empty, or the opset is below 11.
Accuracy: Exact up to the order of sums. Edges of evenly laid bins are rounded as PyTorch rounds
    them. NaN is in no bin; PyTorch gives an error where it has to find the range.
References: pytorch/pytorch aten/src/ATen/native/Histogram.cpp and cpu/HistogramKernel.cpp
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphfix.authoring import (
    FAR,
    Array,
    Builder,
    Refuse,
    Value,
    counted,
    size_of,
)

from ._arguments import ArrayCall, Call
from ._family import Family, Function, ranked
from ._spacing import evenly

_MOST_BINS = 4096


def _floats(call: Call) -> Value:
    x, _ = ranked(call)
    if x.type_name not in ("float32", "float64"):
        raise Refuse(f"{x.name} must be float32 or float64; it is {x.type_name}")
    if x.static_shape is not None and 0 in x.static_shape:
        raise Refuse(f"{x.name} must have elements; it has none")
    return x


def _bins(call: Call | ArrayCall) -> int:
    bins = int(call.number("bins", 100))
    if not 1 <= bins <= _MOST_BINS:
        raise Refuse(f"there must be 1 to {_MOST_BINS} bins; there are {bins}")
    return bins


def _even_edges(build: Builder, call: Call, x: Value) -> Value:
    bins, given = _bins(call), call.entries("range")
    if given:
        low, high = (build.constant(np.array(float(end), x.dtype)) for end in _apart(given))
    else:
        flat = build.Reshape(x, [-1])
        least = build.ReduceMin(flat, axes=[0], keepdims=0)
        largest = build.ReduceMax(flat, axes=[0], keepdims=0)
        same = build.Equal(least, largest)
        half, zero = (build.constant(np.array(n, x.dtype)) for n in (0.5, 0))
        wider = build.Where(same, half, zero)
        low, high = build.Sub(least, wider), build.Add(largest, wider)
    return evenly(build, low, high, bins + 1)


def _apart(ends: Sequence[Any]) -> tuple[float, float]:
    """Return the ends of a range; a single value is made half a unit wider on either side."""
    low, high = (float(end) for end in ends)
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _given_edges(call: Call) -> tuple[Value, int | None]:
    """Return edges, and how many bins are between them; None where that is open."""
    edges, rank = ranked(call, "bins")
    count = edges.dim(0) if rank == 1 else 0
    fits = count is None or 2 <= count <= _MOST_BINS + 1
    if not fits or edges.elem_type != _floats(call).elem_type:
        raise Refuse(f"{edges.name} must be 2 to {_MOST_BINS + 1} edges of the type of the numbers")
    return edges, None if count is None else count - 1


def _last(build: Builder, edges: Value, bins: int | None) -> Value:
    """Say which bin is the last one, [bins, 1]."""
    if bins is not None:
        return build.constant((np.arange(bins) == bins - 1)[:, None])
    numbers = build.Slice(counted(edges, 0, build), starts=[1], ends=[FAR], axes=[0])
    count = build.Sub(size_of(edges, 0, build), np.int64(1))
    return build.Unsqueeze(build.Equal(numbers, count), axes=[1])


def _write(build: Builder, call: Call) -> tuple[Value, Value]:
    x = _floats(call)
    bins: int | None
    if "range" in call.schema:
        edges, bins = _even_edges(build, call, x), _bins(call)
    else:
        edges, bins = _given_edges(call)
    flat = build.Reshape(x, [1, -1])
    low, high = (
        build.Unsqueeze(build.Slice(edges, starts=[start], ends=[end], axes=[0]), axes=[1])
        for start, end in ((0, -1), (1, FAR))
    )
    last = _last(build, edges, bins)
    above = build.Or(build.Greater(flat, low), build.Equal(flat, low))
    below = build.Or(build.Less(flat, high), build.And(build.Equal(flat, high), last))
    weight = call.tensor("weight")
    if weight is None:
        shares = build.constant(np.ones((1, 1), x.dtype))
    elif weight.elem_type != x.elem_type:
        raise Refuse(f"{weight.name} must have the type of {x.name}; it is {weight.type_name}")
    else:
        shares = build.Reshape(weight, [1, -1])
    zero = build.constant(np.zeros((), x.dtype))
    picked = build.Where(build.And(above, below), shares, zero)
    found = build.ReduceSum(picked, axes=[1], keepdims=0)
    if call.number("density", 0):
        found = build.Div(found, build.ReduceSum(found, axes=[0], keepdims=1))
        found = build.Div(found, build.Squeeze(build.Sub(high, low), axes=[1]))
    return found, build.Identity(edges)


def _model(call: ArrayCall) -> Any:
    x, weight = call.need("self"), call.array("weight")
    if not x.size or not np.isfinite(x).all():
        raise Refuse("the numbers must be finite; they are not")
    edges: Array
    if "range" in call.schema:
        given = call.entries("range")
        low, high = _apart(given or (x.min(), x.max()))
        edges = _spaced(x.dtype.type(low), x.dtype.type(high), _bins(call) + 1)
    else:
        edges = call.need("bins")
        if (np.diff(edges) <= 0).any():
            raise Refuse("the edges must increase; they do not")
    counts = np.histogram(x, edges, weights=weight)[0].astype(x.dtype)
    if call.number("density", 0):
        counts = counts / counts.sum() / np.diff(edges)
    return counts.astype(x.dtype), edges


def _spaced(low: Any, high: Any, steps: int) -> Array:
    """Return numbers at even distances, each half counted from its own end."""
    kind = low.dtype.type
    step = (high - low) / kind(steps - 1)
    ahead: Array = np.arange(steps, dtype=low.dtype)
    first: Array = low + step * ahead
    return np.where(np.arange(steps) < steps // 2, first, high - step * ahead[::-1])


FAMILY = Family({
    "histogram.bin_ct": Function(
        ("self", "bins", "range", "weight", "density"), _write, _model
    ),
    "histogram.bins_tensor": Function(("self", "bins", "weight", "density"), _write, _model),
})  # fmt: skip


aten_histogram = FAMILY.replaced(
    __name__,
    emits=(
        "Add And Div Equal Gather Greater Identity Less Mul Or Range ReduceMax ReduceMin ReduceSum "
        "Reshape Shape Slice Squeeze Sub Unsqueeze Where"
    ),
    opset=11,
)
