"""Reading diagonals: diagonal, diagonal_copy and linalg_diagonal.

Source: pytorch/pytorch aten/src/ATen/native/TensorShape.cpp (diagonal).
"""

from typing import Any

import numpy as np

from graphfix.authoring import Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._family import Function, axis_in, ranked
from ._open_shapes import open_diagonal

_ARGUMENTS = ("self", "offset", "dim1", "dim2")


def _diagonal(build: Builder, call: Call) -> Value:
    x, rank = ranked(call, "A" if "A" in call.schema else "self", least=2)
    last = "A" in call.schema
    first = axis_in(call, "dim1", rank, -2 if last else 0)
    second = axis_in(call, "dim2", rank, -1 if last else 1)
    if first == second:
        raise Refuse(f"dim1 and dim2 must be two axes; both are {first}")
    offset = int(call.number("offset", 0))
    down, across = max(-offset, 0), max(offset, 0)
    order = [a for a in range(rank) if a not in (first, second)]
    moved = x if [*order, first, second] == list(range(rank)) else build.Transpose(
        x, perm=[*order, first, second]
    )  # fmt: skip
    rows, columns = x.dim(first), x.dim(second)
    if rows is None or columns is None:
        return open_diagonal(build, moved, down, across)
    count = max(min(rows - down, columns - across), 0)
    if 0 in (rows, columns) or 0 in (x.shape or ()):
        raise Refuse(f"{x.name} must have elements; it has none")
    kept = [moved.dim(at) for at in range(len(order))]
    if sum(not isinstance(d, int) for d in kept) <= 1:
        shape = [d if isinstance(d, int) else -1 for d in kept]
        flat = build.Reshape(moved, [*shape, rows * columns])
    else:
        shape_ = build.Slice(build.Shape(moved), starts=[0], ends=[len(order)], axes=[0])
        flat = build.Reshape(moved, build.Concat(shape_, [rows * columns], axis=0))
    places = (np.arange(count) + down) * columns + np.arange(count) + across
    return build.Gather(flat, places.astype(np.int64), axis=len(order))


def _diagonal_model(call: ArrayCall) -> Any:
    last = "A" in call.schema
    x = call.need(call.schema[0])
    first, second = call.number("dim1", -2 if last else 0), call.number("dim2", -1 if last else 1)
    return np.diagonal(x, int(call.number("offset", 0)), int(first), int(second)).copy()


_READ = Function(_ARGUMENTS, _diagonal, _diagonal_model)
DIAGONALS = {
    "diagonal": _READ,
    "diagonal_copy": _READ,
    "linalg_diagonal": Function(("A", *_ARGUMENTS[1:]), _diagonal, _diagonal_model),
}
