"""Replace segment_reduce by a mask of what is in which segment.

What it does: Adds the lengths up to where each segment starts and ends, picks the rows of each
    segment by a mask, and reduces them, together with the initial number where there is one.
Why engines need it: ONNX has no such operator, no exporter of PyTorch translates it, and no engine
    has an importer for an ATen node.
Before:
    y = org.pytorch.aten.ATen <operator = "segment_reduce"> (x, "sum", lengths, , , 0, True, None)
After:
    ends = CumSum (lengths)
    inside = And (Not (Less (rows, starts)), Less (rows, ends))            # [segments, rows]
    y = ReduceSum <axes = [1]> (Where (inside, x, 0))
When it refuses: The lengths are not given as a vector of integers, another axis than the first is
    reduced, an argument is computed at run time, the type is not float32 or float64, or the opset
    is below 11.
Accuracy: Exact up to rounding and the order of sums and products. The lengths have to add up to the
    rows, for which PyTorch gives an error unless it is told that this is so.
References: pytorch/pytorch aten/src/ATen/native/SegmentReduce.cpp
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._bags import EMITS, members, spread
from ._family import Family, Function, ranked

_NOTHING = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}
_OPERATORS = {
    "sum": "ReduceSum", "mean": "ReduceSum", "prod": "ReduceProd", "max": "ReduceMax",
    "min": "ReduceMin",
}  # fmt: skip


def _how(call: Call | ArrayCall, given: str) -> tuple[str, float]:
    """Return the reduction, and the number it begins with."""
    if given not in _NOTHING:
        raise Refuse(f"the reduction must be sum, mean, prod, max or min; it is {given}")
    return given, float(call.number("initial", _NOTHING[given]))


def _segments(call: Call) -> tuple[Value, int, Value]:
    x, rank = ranked(call, "data", 1)
    lengths, own = ranked(call, "lengths")
    if x.type_name not in ("float32", "float64"):
        raise Refuse(f"{x.name} must be float32 or float64; it is {x.type_name}")
    if own != 1 or lengths.type_name not in ("int32", "int64") or call.number("axis", 0):
        raise Refuse("the lengths must be a vector of integers, and the axis the first one")
    return x, rank, lengths


def _reduced(build: Builder, call: Call) -> Value:
    x, rank, lengths = _segments(call)
    how, initial = _how(call, call.text("reduce", ""))
    lengths = build.Cast(lengths, to=TensorProto.INT64)
    ends = build.CumSum(lengths, np.array(0, np.int64))
    inside = members(build, build.Sub(ends, lengths), ends, x)
    picked = spread(build, inside, x, _NOTHING[how])
    reduce = getattr(build, _OPERATORS[how])
    found: Value = reduce(picked, axes=[1], keepdims=0)
    if initial != _NOTHING[how]:
        first = build.constant(np.array(initial, x.dtype))
        join = {"sum": "Add", "mean": "Add", "prod": "Mul", "max": "Max", "min": "Min"}[how]
        found = getattr(build, join)(found, first)
    if how != "mean":
        return found
    counts = build.Cast(lengths, to=x.elem_type)
    counts = build.Unsqueeze(counts, axes=list(range(1, rank))) if rank > 1 else counts
    if call.number("initial") is None:  # nothing divided by nothing is NaN
        return build.Div(found, counts)
    return build.Div(found, build.Max(counts, build.constant(np.ones((), x.dtype))))


def _model(call: ArrayCall) -> Any:
    x, lengths = call.need("data"), call.need("lengths")
    if lengths.sum() != len(x) or (lengths < 0).any():
        raise Refuse("the lengths must add up to the rows; they do not")
    how, initial = _how(call, str(call.need("reduce")))
    functions: dict[str, Any] = {
        "sum": np.add, "mean": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum,
    }  # fmt: skip
    none_given = call.number("initial") is None
    found: list[Any] = []
    ends: list[int] = np.cumsum(lengths).tolist()
    for end, length in zip(ends, lengths.tolist(), strict=True):
        part = x[end - length : end].astype(np.float64)
        total = functions[how].reduce(part, axis=0, initial=initial)
        if how == "mean" and (length or none_given):
            total = np.divide(total, length)
        found.append(total)
    return np.array(found).reshape(len(lengths), *x.shape[1:]).astype(x.dtype)


_SCHEMA = ("data", "reduce", "lengths", "indices", "offsets", "axis", "unsafe", "initial")
FAMILY = Family({"segment_reduce": Function(_SCHEMA, _reduced, _model)})


aten_segment_reduce = FAMILY.replaced(
    __name__,
    emits=(f"{EMITS} Add Cast CumSum Div Max Min Mul ReduceMax ReduceMin ReduceProd ReduceSum Sub"),
    opset=11,
)
