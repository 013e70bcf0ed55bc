"""Replace median, nanmedian and mode by sorting and counting.

What it does: Takes the lower middle of the sorted numbers for median, the middle of those that are
    numbers for nanmedian (the others are sorted after as infinities), and for mode the least of
    those that are equal to most others.
Why engines need it: ONNX has none of them, and PyTorch's exporter writes ATen nodes.
Before: m = org.pytorch.aten.ATen <operator = "median"> (x)              # x: float[2, 3]
After:
    t, _ = TopK <axis = 0> (Neg (Reshape (x, [-1])), [6])
    m = Where (not a number is there, NaN, Neg (t[2]))
When it refuses: The axis is computed at run time, rank or type are unknown, the size of the axis is
    zero, for mode unknown or larger than 1,024 (each number is compared with each), the type has no
    order that TopK has, or the opset is below 11.
Accuracy: Exact: the result is one of the inputs; only the sign of a zero may be another. A NaN
    makes the median NaN, as in PyTorch; a mode of numbers with NaN among them may be another one.
    Approximate where the place is used: PyTorch leaves open which of equal numbers it gives.
References: pytorch/pytorch aten/src/ATen/native/Sorting.cpp (median, nanmedian, mode),
    https://pytorch.org/docs/stable/generated/torch.median.html (the lower one of two)
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    APPROXIMATE,
    Array,
    Builder,
    InferredType,
    Refuse,
    Value,
    along,
    counted,
    size_of,
)

from ._arguments import ArrayCall, Call
from ._axes import FLOATS
from ._family import INT64, Family, Function, axis_in, ranked, without
from ._ordering import as_before, order, widened_to_sort

_MOST_COMPARED = 1024


def _missing(build: Builder, x: Value) -> Value:
    return build.Not(build.Equal(x, x))


def _counted(build: Builder, x: Value, axis: int) -> Value:
    """Return the size along an axis as int64 that broadcasts.

    Raises:
        Refuse: It is 0, or the opset is too old.
    """
    build.need_opset(11, ", which compares floats")
    size = size_of(x, axis, build)
    if size == 0:
        raise Refuse(f"the size of axis {axis} must not be 0; it is")
    return build.constant(np.array(size, np.int64)) if isinstance(size, int) else size


def _middle(build: Builder, x: Value, axis: int, *, skip: bool, whole: bool) -> tuple[Value, Value]:
    """Return the median along an axis, which is kept, and a place where it is."""
    size = _counted(build, x, axis)
    wide = widened_to_sort(build, x)
    if wide.elem_type not in FLOATS:
        values, places = order(build, wide, axis, descending=False)
        here = build.Div(build.Sub(size, 1), 2)
        value = _picked(build, values, axis, here)
        return as_before(build, value, x), _picked(build, places, axis, here)
    missing = _missing(build, wide)
    held = build.constant(np.array(np.inf, wide.dtype))
    values, places = order(build, build.Where(missing, held, wide), axis, descending=False)
    flags = build.Cast(missing, to=TensorProto.INT32)
    if whole and not isinstance(x.dim(axis), int):  # which is NaN where there are no numbers
        values = build.Concat(values, build.constant(np.full(1, np.nan, wide.dtype)), axis=0)
        places = build.Concat(places, build.constant(np.zeros(1, np.int64)), axis=0)
    gone = build.Cast(build.ReduceSum(flags, axes=[axis], keepdims=1), to=INT64)
    if skip:
        lost = build.Equal(gone, size)
        left = build.Sub(build.Sub(size, 1), gone)
        here = build.Div(build.Where(lost, build.constant(np.array(0, np.int64)), left), 2)
        value, place = (build.GatherElements(v, here, axis=axis) for v in (values, places))
    else:
        here = build.Div(build.Sub(size, 1), 2)
        value, place = (_picked(build, v, axis, here) for v in (values, places))
        lost = build.Less(build.constant(np.array(0, np.int64)), gone)
    none = build.constant(np.array(np.nan, wide.dtype))
    first = build.ArgMax(flags, axis=axis, keepdims=1)
    value = build.Where(lost, none, value)
    return as_before(build, value, x), build.Where(lost, first, place)


def _picked(build: Builder, x: Value, axis: int, place: Value) -> Value:
    return build.Gather(x, build.Reshape(place, [1]), axis=axis)


def _common(build: Builder, x: Value, axis: int) -> tuple[Value, Value]:
    """Return the mode along an axis, which is kept, and the last place where it is."""
    size = x.dim(axis)
    if size is None or not 0 < size <= _MOST_COMPARED:
        raise Refuse(f"the size of axis {axis} must be 1 to {_MOST_COMPARED}; it is {size}")
    _counted(build, x, axis)
    wide = widened_to_sort(build, x)
    # [..., size, 1, ...] against [..., 1, size, ...]
    pairs = build.Equal(build.Unsqueeze(wide, axes=[axis + 1]), build.Unsqueeze(wide, axes=[axis]))
    counts = build.ReduceSum(build.Cast(pairs, to=TensorProto.FLOAT), axes=[axis + 1], keepdims=0)
    most = build.Equal(counts, build.ReduceMax(counts, axes=[axis], keepdims=1))
    if wide.elem_type in FLOATS:
        last = build.constant(np.array(np.inf, wide.dtype))
    else:
        last = build.ReduceMax(wide, axes=[axis], keepdims=1)
    held = build.Where(most, wide, last)
    value = build.ReduceMin(held, axes=[axis], keepdims=1)
    numbers = along(counted(x, axis, build), axis, x.rank or 0, build)
    here = build.Cast(build.Equal(wide, value), to=INT64)
    place = build.ReduceMax(build.Mul(here, numbers), axes=[axis], keepdims=1)
    return as_before(build, value, x), place


def _writer(kind: str) -> Any:
    def write(build: Builder, call: Call) -> tuple[Value, ...]:
        x, rank = ranked(call)
        if not rank:
            return build.Identity(x), build.constant(np.array(0, np.int64))
        chosen = "dim" in call.schema
        axis = axis_in(call, "dim", rank, -1) if chosen else 0
        lines = x if chosen else build.Reshape(x, [-1])
        if kind == "mode":
            found = _common(build, lines, axis)
        else:
            found = _middle(build, lines, axis, skip=kind == "nanmedian", whole=not chosen)
        shown = call.node.output(1)
        used = shown is not None and shown.is_used
        if used:
            build.declare(APPROXIMATE, "of equal numbers another place may be given than PyTorch's")
        kept = found if used else (found[0],)
        if chosen and call.number("keepdim", 0):
            return kept
        return tuple(build.Squeeze(value, axes=[axis]) for value in kept)

    return write


def _infer(call: Call) -> Sequence[InferredType | None]:
    x, rank = ranked(call)
    shape: tuple[int | str | None, ...] = ()
    if rank and "dim" in call.schema:
        axis = axis_in(call, "dim", rank, -1)
        shape = without(x.shape, axis, keep=bool(call.number("keepdim", 0)))
    return InferredType(x.elem_type, shape), InferredType(INT64, shape)


def _modelled(kind: str) -> Any:
    def model(call: ArrayCall) -> Any:
        x = call.need("self")
        along = "dim" in call.schema
        axis = int(call.number("dim", -1)) if along else 0
        lines = x if along and x.ndim else x.ravel()
        values = np.apply_along_axis(_of_line, axis, lines, kind)
        if along and call.number("keepdim", 0) and x.ndim:
            values = np.expand_dims(values, axis)
        values = np.asarray(values, x.dtype)
        return (values, _places(lines, values, axis, kind)) if along else values

    return model


def _places(lines: Array, values: Array, axis: int, kind: str) -> Array:
    """Return the place of each value: the last one of a mode, the middle one of a median."""
    if not lines.ndim:
        return np.zeros((), np.int64)
    wanted = values if np.ndim(values) == lines.ndim else np.expand_dims(values, axis)
    here = (lines == wanted) | ((lines != lines) & (wanted != wanted))
    if kind == "mode":
        found = lines.shape[axis] - 1 - np.flip(here, axis).argmax(axis)
    else:
        found = here.argmax(axis)
    return np.asarray(found.reshape(np.shape(values)), np.int64)


def _of_line(line: Array, kind: str) -> Any:
    if kind == "mode":
        found, counts = np.unique(line, return_counts=True)
        return found[counts.argmax()]
    numbers = np.sort(line[line == line])
    if not len(numbers) or (kind == "median" and len(numbers) < len(line)):
        return np.nan
    return numbers[(len(numbers) - 1) // 2]


_MIDDLES = ("median", "nanmedian")
_ALONG = ("self", "dim", "keepdim")
FAMILY = Family(
    {
        **{k: Function(("self",), _writer(k), _modelled(k), infer=_infer) for k in _MIDDLES},
        **{f"{k}.dim": Function(_ALONG, _writer(k), _modelled(k), infer=_infer) for k in _MIDDLES},
        "mode": Function(_ALONG, _writer("mode"), _modelled("mode"), infer=_infer),
    }
)


aten_median = FAMILY.replaced(
    __name__,
    emits=(
        "ArgMax Cast Concat Div Equal Gather GatherElements Identity Less Mul Neg Not ReduceMax "
        "ReduceMin ReduceSum Reshape Shape Squeeze Sub TopK Unsqueeze Where"
    ),
)
