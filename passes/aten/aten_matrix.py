"""Replace trace and the matrix of Vandermonde.

What it does: Adds up what is on the diagonal of a matrix, which a comparison of rows with
    columns picks, and writes the powers of a vector next to one another.
Why engines need it: The exporter has no symbolic for these, and no engine an importer for ATen.
Before: y = org.pytorch.aten.ATen <operator = "trace"> (x)                  # x: float[2, 2]
After: y = ReduceSum (Where (Equal ([[0], [1]], [[0, 1]]), x, 0))
When it refuses: A rank or type is unknown, the matrix has other than two axes, the number of powers
    is computed at run time or more than 64, or the opset is below 9.
Accuracy: Exact up to rounding and the order of sums.
References: pytorch/pytorch aten/src/ATen/native/ReduceOps.cpp (trace_cpu), BatchLinearAlgebra.cpp
    (linalg_vander)
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, Refuse, Value, counted, in_quarters

from ._arguments import ArrayCall, Call
from ._arithmetic import held, is_float
from ._family import Family, Function, ranked
from ._reductions import over

_MOST = 64


def _numbers(x: Value) -> Value:
    if x.dtype is None or x.dtype.kind not in "if" or x.dtype.itemsize < 4:
        raise Refuse(f"{x.name} must be numbers of 32 or 64 bits; it is {x.type_name}")
    return x


def _trace(build: Builder, call: Call) -> Value:
    x, rank = ranked(call)
    if rank != 2:
        raise Refuse(f"{x.name} must be a matrix; it has {rank} axes")
    down, across = (counted(_numbers(x), axis, build) for axis in (0, 1))
    same = build.Equal(build.Unsqueeze(down, axes=[1]), build.Unsqueeze(across, axes=[0]))
    picked = build.Where(same, x, held(build, x, 0))
    if is_float(x):
        return over(build, "ReduceSum", picked, (0, 1), keep=False)
    wide = build.Cast(picked, to=TensorProto.INT64) if x.type_name == "int32" else picked
    return in_quarters(wide, lambda part: over(build, "ReduceSum", part, (0, 1), keep=False), build)


def _trace_model(call: ArrayCall) -> Any:
    x = call.need("self")
    total = np.trace(x, dtype=np.int64 if x.dtype.kind == "i" else np.float64)
    return np.asarray(total).astype(np.int64 if x.dtype.kind == "i" else x.dtype)


def _count(call: Call) -> tuple[Value, int]:
    x, rank = ranked(call, "x")
    given = call.number("N")
    count = given if given is not None else x.dim(rank - 1) if rank else 1
    if count is None or not 1 <= int(count) <= _MOST:
        raise Refuse(f"there must be 1 to {_MOST} powers; there are {count}")
    return _numbers(x), int(count)


def _powers(build: Builder, call: Call) -> Value:
    x, count = _count(call)
    line = x if x.rank else build.Unsqueeze(x, axes=[0])
    rank = line.rank or 0
    shape = build.Shape(line)
    columns = [build.Expand(held(build, line, 1), shape), line][:count]
    while len(columns) < count:
        columns.append(build.Mul(columns[-1], line))
    return build.Concat(*(build.Unsqueeze(c, axes=[rank]) for c in columns), axis=rank)


def _powers_model(call: ArrayCall) -> Any:
    x = np.atleast_1d(call.need("x"))
    given = call.number("N")
    count = int(given) if given is not None else x.shape[-1]
    columns = [np.ones_like(x)]
    while len(columns) < count:
        columns.append(columns[-1] * x)
    return np.stack(columns, -1)


FAMILY = Family({
    "trace": Function(("self",), _trace, _trace_model),
    "linalg_vander": Function(("x", "N"), _powers, _powers_model),
})  # fmt: skip


aten_matrix = FAMILY.replaced(
    __name__,
    emits=(
        "Add Cast Concat Div Equal Expand Gather Identity Mul Range ReduceSum Shape Slice Squeeze "
        "Sub Unsqueeze Where"
    ),
    opset=9,
    why=", which has Where",
)
