"""Replace cummax, cummin and cumprod by a scan that doubles its reach in each step.

What it does: Combines each element with its neighbour 1, then 2, then 4 ... places before: after
    log2 of the size steps each holds the maximum, minimum or product of all up to it. An axis of
    unknown size is walked by a Scan. The place of a maximum is the largest place so far that holds
    it.
Why engines need it: ONNX had no such operators before CumProd of opset 26, and PyTorch's exporter
    writes ATen nodes.
Before: v, i = org.pytorch.aten.ATen <operator = "cummax"> (x, 1)           # x: float[2, 5]
After:
    a = Concat <axis = 1> (x[:, :1], Max (x[:, 1:], x[:, :4]))
    v = ...                                                             # then 2 and 4 places
    i = the running Max of Where (x == v, [0, 1, 2, 3, 4], 0)
When it refuses: The axis is computed at run time, rank or type are unknown, integers or places are
    wanted below opset 12, an axis is open below opset 9, or the type is changed by an argument.
Accuracy: cummax and cummin are exact: the result is one of the inputs, and of equal ones the last
    place counts, as in PyTorch; NaN stays from where it is where the engine's Max keeps it. cumprod
    is exact for integers, which wrap around, and up to the order of products for floats.
References: pytorch/pytorch aten/src/ATen/native/ReduceOps.cpp (cummax_helper: `>=`, and NaN);
    Hillis and Steele, Data parallel algorithms; https://onnx.ai/onnx/operators/onnx__Scan.html
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, InferredType, Refuse, Value, along, counted

from ._arguments import ArrayCall, Call
from ._axes import FLOATS, LOW_PRECISION
from ._family import INT64, Family, Function, axis_in, like, ranked
from ._ordering import as_before, zeros_like
from ._scanning import scanned

_COUNTED = (TensorProto.INT32, TensorProto.INT64)
_NARROW = (TensorProto.BOOL, TensorProto.INT8, TensorProto.INT16, TensorProto.UINT8)


def _held(build: Builder, x: Value) -> Value:
    """Return `x` in a type that Max and Mul take everywhere."""
    if x.elem_type in _NARROW:
        x = build.Cast(x, to=TensorProto.INT32)
    elif x.elem_type in LOW_PRECISION:
        x = build.Cast(x, to=TensorProto.FLOAT)
    if x.elem_type in FLOATS:
        return x
    if x.elem_type not in _COUNTED:
        raise Refuse(f"{x.name} must be floating point or a signed integer; it is {x.type_name}")
    build.need_opset(12, ", which compares integers")
    return x


def _extreme(op: str) -> Any:
    def write(build: Builder, call: Call) -> tuple[Value, ...]:
        x, rank = ranked(call)
        axis = axis_in(call, "dim", rank)
        if not rank:
            return build.Identity(x), zeros_like(build, x)
        wide = _held(build, x)
        values = scanned(build, op, wide, axis)
        shown = call.node.output(1)
        if shown is None or not shown.is_used:
            return (as_before(build, values, x),)
        return as_before(build, values, x), _places(build, wide, values, axis)

    return write


def _places(build: Builder, x: Value, values: Value, axis: int) -> Value:
    build.need_opset(12, " for places")
    numbers = along(counted(x, axis, build), axis, x.rank or 0, build)
    here = build.Equal(x, values)
    if x.elem_type in FLOATS:  # a NaN is as large as the last one
        here = build.Or(here, build.Not(build.Equal(x, x)))
    held = build.Where(here, numbers, build.constant(np.array(0, np.int64)))
    return scanned(build, "Max", held, axis)


def _product(build: Builder, call: Call) -> Value:
    x, rank = ranked(call)
    axis = axis_in(call, "dim", rank)
    wanted = call.number("dtype")
    if wanted is not None:
        raise Refuse(f"the dtype of cumprod must be that of {x.name}; another one is given")
    if x.dtype is not None and x.dtype.kind in "iub":
        x = x if x.elem_type == INT64 else build.Cast(x, to=INT64)  # as PyTorch does
    if not rank:
        return build.Identity(x)
    return as_before(build, scanned(build, "Mul", _held(build, x), axis), x)


def _with_places(call: Call) -> Sequence[InferredType | None]:
    return (*like()(call), InferredType(INT64, call.need("self").shape))


def _extreme_model(greater: bool) -> Any:
    def model(call: ArrayCall) -> Any:
        x, axis = call.need("self"), int(call.number("dim"))
        if not x.ndim:
            return x, np.zeros((), np.int64)
        lines = np.moveaxis(x, axis, -1)
        values, places = np.empty_like(lines), np.empty(lines.shape, np.int64)
        for line in np.ndindex(lines.shape[:-1]):
            values[line], places[line] = _walk(lines[line], greater)
        return np.moveaxis(values, -1, axis), np.moveaxis(places, -1, axis)

    return model


def _walk(line: Array, greater: bool) -> tuple[list[Any], list[int]]:
    values: list[Any] = []
    places: list[int] = []
    for at, number in enumerate(line):
        best = values[-1] if values else number
        taken = number >= best if greater else number <= best
        if not values or np.isnan(number) or (not np.isnan(best) and taken):
            values.append(number)
            places.append(at)
        else:
            values.append(best)
            places.append(places[-1])
    return values, places


def _product_model(call: ArrayCall) -> Any:
    x, axis = call.need("self"), int(call.number("dim"))
    wide = np.int64 if x.dtype.kind in "iub" else x.dtype
    return np.cumprod(x, axis=axis, dtype=wide) if x.ndim else x.astype(wide)


FAMILY = Family(
    {
        "cummax": Function(
            ("self", "dim"), _extreme("Max"), _extreme_model(True), infer=_with_places
        ),
        "cummin": Function(
            ("self", "dim"), _extreme("Min"), _extreme_model(False), infer=_with_places
        ),
        "cumprod": Function(("self", "dim", "dtype"), _product, _product_model),
    }
)


aten_cummax = FAMILY.replaced(
    __name__,
    emits=(
        "Cast Concat ConstantOfShape Equal Expand Gather Identity Max Min Mul Not Or Range "
        "Reshape Scan Shape Slice Transpose Unsqueeze Where"
    ),
)
