"""Take the factors of an LU decomposition apart.

What it does: Cuts the lower and the upper half out of the matrices of lu_unpack, and carries out
    the exchanges of rows that the pivots name one by one, on a row of numbers.
Why engines need it: ONNX has no linear algebra, and neither exporter of PyTorch translates it.
Before: p, l, u = org.pytorch.aten.ATen <operator = "lu_unpack"> (a, pivots, True, True)
After:
    l = Add (Mul (a, below), eye)              # below: 1 below the diagonal, 0 elsewhere
    u = Mul (a, above)
    p = Cast (Equal ([[0], [1]], rows))        # rows: [1, 2], after the exchanges
When it refuses: The sizes of the matrices are open or 0, there are more than 32 pivots, a flag is
    computed at run time, the pivots are not int32, the type is not float32 or float64, or the opset
    is below 11.
Accuracy: Exact, bit by bit.
References: pytorch/pytorch aten/src/ATen/native/BatchLinearAlgebra.cpp (lu_unpack), and
    cpu/BatchLinearAlgebraKernel.cpp (unpack_pivots_cpu_kernel)
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._family import Family, Function, ranked
from ._lu import halves, permutation, row_order

_MOST = 32
_SCHEMA = ("LU_data", "LU_pivots", "unpack_data", "unpack_pivots")


def _sizes(call: Call) -> tuple[Value, int, int]:
    x, rank = ranked(call, "LU_data", 2)
    rows, columns = x.dim(rank - 2), x.dim(rank - 1)
    if not rows or not columns:
        raise Refuse(f"the sizes of the matrices of {x.name} must be known and not 0")
    if min(rows, columns) > _MOST:
        raise Refuse(f"there must be at most {_MOST} pivots; there are {min(rows, columns)}")
    if x.elem_type not in (TensorProto.FLOAT, TensorProto.DOUBLE):
        raise Refuse(f"{x.name} must be float32 or float64; it is {x.type_name}")
    return x, rows, columns


def _flag(call: Call | ArrayCall, name: str) -> bool:
    return bool(call.number(name, 1))


def _write(build: Builder, call: Call) -> tuple[Value, ...]:
    x, rows, columns = _sizes(call)
    nothing = build.constant(np.zeros(0, x.dtype))
    lower = upper = order = nothing
    if _flag(call, "unpack_data"):
        lower, upper = halves(build, x, rows, columns)
    call.irrelevant("LU_pivots")  # where they are not asked for
    if _flag(call, "unpack_pivots"):
        numbers = row_order(build, _pivots(call), rows, min(rows, columns))
        order = permutation(build, numbers, rows, x.elem_type)
    return order, lower, upper


def _pivots(call: Call) -> Value:
    pivots, _ = ranked(call, "LU_pivots", 1)
    if pivots.type_name != "int32":
        raise Refuse(f"{pivots.name} must be int32; it is {pivots.type_name}")
    return pivots


def _row_order(pivots: Sequence[int], rows: int) -> list[int]:
    """Return the row that each one came from, after the exchanges."""
    state = list(range(rows))
    for step, pivot in enumerate(pivots):
        state[step], state[pivot - 1] = state[pivot - 1], state[step]
    return state


def _model(call: ArrayCall) -> Any:
    x, pivots = call.need("LU_data"), call.need("LU_pivots")
    rows, columns = x.shape[-2:]
    count = min(rows, columns)
    nothing = np.zeros(0, x.dtype)
    lower: Array = nothing
    upper: Array = nothing
    order: Array = nothing
    if _flag(call, "unpack_data"):
        lower = np.tril(x[..., :count], -1) + np.eye(rows, count, dtype=x.dtype)
        upper = np.triu(x[..., :count, :])
    if _flag(call, "unpack_pivots"):
        if ((pivots < 1) | (pivots > rows)).any():
            raise Refuse("the pivots must be rows; they are not")  # as PyTorch does
        order = np.zeros((*x.shape[:-2], rows, rows), x.dtype)
        for at in np.ndindex(*x.shape[:-2]):
            for place, row in enumerate(_row_order(pivots[at].tolist(), rows)):
                order[at][row, place] = 1
    return order, lower, upper


FAMILY = Family({"lu_unpack": Function(_SCHEMA, _write, _model)})


aten_lu_unpack = FAMILY.replaced(
    __name__,
    emits="Add Cast Equal ReduceSum Slice Sub Unsqueeze Where",
    opset=11,
)
