"""Replace linalg_tensorsolve and linalg_tensorinv by elimination on matrices.

What it does: Flattens the tensor to a square matrix, solves or inverts by elimination with partial
    pivoting, and gives the result the shape of the axes that are left.
Why engines need it: ONNX has no linear algebra, PyTorch's exporter writes ATen nodes, and its newer
    one does not translate them either.
Before: y = org.pytorch.aten.ATen <operator = "linalg_tensorinv"> (a, 1)       # a: float[6, 3, 2]
After:
    ...                             # the inverse of Flatten <axis = 1> (a), see aten-linalg-inv
    y = Reshape (inverse, [3, 2, 6])
When it refuses: A rank or dtype is unknown, an argument is computed at run time, the matrix is not
    square or of another type than float16, float32 and float64, or the types of both tensors
    differ.
Accuracy: Exact up to rounding, as the elimination of LAPACK; a singular matrix, for which PyTorch
    raises an error, gives infinities or NaN. float16 is computed in float32.
References: pytorch/pytorch aten/src/ATen/native/LinearAlgebra.cpp (linalg_tensorsolve,
    linalg_tensorinv)
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from graphfix.authoring import Builder, Option, Refuse, Value

from ._arguments import ArrayCall, Call
from ._eliminating import EMITS, eliminated, solution
from ._family import Family, Function, ranked


def _shaped(build: Builder, found: Value, x: Value, order: Sequence[int]) -> Value:
    """Return what was found in the sizes that `x` has along axes."""
    sizes = [x.dim(axis) for axis in order]
    known = [size for size in sizes if size is not None]
    if len(known) == len(order):
        return build.Reshape(found, known)
    return build.Reshape(found, build.Gather(build.Shape(x), np.array(order), axis=0))


def _inverse(build: Builder, call: Call) -> Value:
    x, rank, first = _split(call)
    matrix = build.Flatten(x, axis=first)
    found = eliminated(build, matrix, None, build.option("max_unrolled"))
    return _shaped(build, found, x, [*range(first, rank), *range(first)])


def _split(call: Call) -> tuple[Value, int, int]:
    """Return the tensor, its rank, and how many axes the rows have."""
    x, rank = ranked(call, "self", 2)
    first = int(call.number("ind", 2))
    if not 0 < first < rank:
        raise Refuse(f"ind must be 1 to {rank - 1}; it is {first}")
    return x, rank, first


def _order(given: tuple[int, ...] | None, rank: int) -> list[int]:
    """Return the axes with those that are given after the others."""
    after = [axis % rank for axis in given or () if -rank <= axis < rank]
    if len(set(after)) != len(given or ()):
        raise Refuse(f"dims must be different axes of rank {rank}; they are {list(given or ())}")
    return [*(axis for axis in range(rank) if axis not in after), *after]


def _solve(build: Builder, call: Call) -> Value:
    x, rank = ranked(call, "self", 1)
    b, own = ranked(call, "other")
    if b.elem_type != x.elem_type or not 0 < own < rank:
        raise Refuse(f"{b.name} must have the type of {x.name} and 1 to {rank - 1} axes")
    order = _order(call.integers("dims"), rank)
    turned = x if order == sorted(order) else build.Transpose(x, perm=order)
    side = build.Reshape(b, [-1, 1])
    found = eliminated(build, build.Flatten(turned, axis=own), side, build.option("max_unrolled"))
    return _shaped(build, found, x, order[own:])


def _inverse_model(call: ArrayCall) -> Any:
    x, first = call.need("self"), int(call.number("ind", 2))
    size = prod(x.shape[:first])
    found = solution(x.reshape(size, -1), np.eye(size, dtype=x.dtype))
    return found.reshape(*x.shape[first:], *x.shape[:first])


def _solve_model(call: ArrayCall) -> Any:
    x, b = call.need("self"), call.need("other")
    given = call.entries("dims")
    turned = x.transpose(_order(None if given is None else tuple(int(n) for n in given), x.ndim))
    found = solution(turned.reshape(b.size, -1), b.reshape(-1, 1))
    return found.reshape(turned.shape[b.ndim :])


FAMILY = Family(
    {
        "linalg_tensorinv": Function(("self", "ind"), _inverse, _inverse_model),
        "linalg_tensorsolve": Function(("self", "other", "dims"), _solve, _solve_model),
    }
)


aten_linalg_tensorsolve = FAMILY.replaced(
    __name__,
    emits=f"{EMITS} Flatten Transpose",
    options={
        "max_unrolled": Option(
            int, 8, "Largest matrix that is eliminated without a Loop, about 19 nodes a row."
        )
    },
    opset=9,
    why=", which flattens any axis",
)
