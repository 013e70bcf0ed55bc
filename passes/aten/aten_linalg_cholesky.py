"""Replace a Cholesky factorisation by its steps.

What it does: Factors stacks of symmetric matrices column by column: the square root of the pivot,
    the column divided by it, and its product with itself taken from what remains. A constant mask
    makes the other triangle zero. Only the triangle that PyTorch reads is read.
Why engines need it: ONNX has no such operator, and PyTorch's exporter writes an ATen node
    (linalg_cholesky, linalg_cholesky_ex or cholesky).
Before: y = org.pytorch.aten.ATen <operator = "linalg_cholesky"> (x, 0)      # x: float[B, 3, 3]
After:
    root = Sqrt (Slice (x))                                              # [B, 1, 1]
    column = Div (Slice (x), root)                                       # [B, 2, 1]
    rest = Sub (Slice (x), Mul (column, Transpose (column)))             # [B, 2, 2]
    ...
    y = Mul (Concat (columns), mask)

    Matrices larger than the option `max_unrolled`, and those whose size is not known, are factored
    in a Loop, whose state is turned by a row and a column each time and so keeps its shape.
When it refuses: The rank or dtype is unknown, the matrices are not square, the type is not float16,
    float32 or float64, or matrices are factored in a Loop below opset 9 (11 where their size is not
    known).
Accuracy: Exact up to rounding, as LAPACK's factorisation which PyTorch uses. float16 is computed in
    float32. A matrix that is not positive definite, for which PyTorch raises an error, gives NaN or
    infinities in its own entry of the stack. Approximate where the error counts of
    linalg_cholesky_ex are used: rounding decides whether the pivot of a matrix that is nearly
    singular is above 0, and PyTorch leaves open what the factor is where it is not.
References: pytorch/pytorch aten/src/ATen/native/BatchLinearAlgebra.cpp (linalg_cholesky_ex); Golub
    and Van Loan, Matrix Computations, 4.2 (Cholesky factorisation).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphfix.authoring import (
    APPROXIMATE,
    Array,
    Builder,
    NodeView,
    Option,
    Value,
    need_rank,
)

from ._arguments import ArrayCall, call_of, replacing
from ._axes import widened
from ._eliminating import EMITS, counting, cut, in_steps, like_matrices, square_matrices
from ._error_counts import DECIDED, first_that_fails
from ._error_counts import EMITS as COUNTING

NAMES = ("linalg_cholesky", "linalg_cholesky_ex", "cholesky")
SCHEMA = ("self", "upper", "check_errors")


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Use numpy, in float64.

    Raises:
        numpy.linalg.LinAlgError: A matrix is not positive definite, where PyTorch raises as well.
    """
    call = ArrayCall(inputs, attributes, SCHEMA)
    x, upper = call.need("self"), bool(call.number("upper", 0))
    wide = x.astype(np.float64)
    factor = np.linalg.cholesky(wide.swapaxes(-1, -2) if upper else wide)
    result = factor.swapaxes(-1, -2) if upper else factor
    return np.ascontiguousarray(result).astype(x.dtype), np.zeros(x.shape[:-2], dtype=np.int32)


@replacing(
    NAMES,
    emits=f"{EMITS} {COUNTING} Less Sqrt Transpose",
    options={
        "max_unrolled": Option(
            int, 16, "Largest matrix that is factored without a Loop, about 10 nodes a row."
        )
    },
    infer=like_matrices,
    evaluate=evaluate,
)
def aten_linalg_cholesky(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Factor column by column, see the module."""
    call = call_of(node, dict.fromkeys(NAMES, SCHEMA))
    x, upper = call.need("self"), bool(call.number("upper", 0))
    size, most = square_matrices(x), build.option("max_unrolled")
    rank = need_rank(x)
    turn = [*range(rank - 2), rank - 1, rank - 2]

    def work(matrix: Value) -> Value:
        matrix = build.Transpose(matrix, perm=turn) if upper else matrix
        if size is not None and 0 < size <= most:
            lower = _factor(build, matrix, size)
        else:
            lower = _looped(build, matrix, size)
        return build.Transpose(lower, perm=turn) if upper else lower

    found, info = widened(build, x, work), node.output(1)
    if info is None or not info.is_used:
        return (found, *([None] * (len(node.outputs) - 1)))
    build.declare(APPROXIMATE, DECIDED)
    return found, _counts(build, found, size)


def _counts(build: Builder, factor: Value, size: int | None) -> Value:
    """Return the first root on the diagonal that is not above 0."""
    build.need_opset(9, " for the error counts")
    rank = need_rank(factor)
    numbers, _, _ = counting(build, factor, size)
    eye = build.Equal(numbers, build.Reshape(numbers, [1, -1]))
    zero = build.constant(np.zeros((), factor.dtype))
    roots = build.ReduceSum(build.Where(eye, factor, zero), axes=[rank - 1], keepdims=0)
    return first_that_fails(build, build.Not(build.Greater(roots, zero)))


def _looped(build: Builder, matrix: Value, size: int | None) -> Value:
    """Return the lower factor, in a Loop; the state is turned by a row and a column each time."""
    build.need_opset(9, ", which has Where")
    rank = need_rank(matrix)
    turn = [*range(rank - 2), rank - 1, rank - 2]
    numbers, trips, _ = counting(build, matrix, size)
    zero = build.constant(np.zeros((), matrix.dtype))

    def step(inner: Builder, *inputs: Value) -> Sequence[Value]:
        number, going, state = inputs
        # Rows above the diagonal are after those that are left.
        live = inner.Less(inner.Add(numbers, number), trips)
        root = inner.Sqrt(inner.Slice(state, starts=[0, 0], ends=[1, 1], axes=[rank - 2, rank - 1]))
        column = inner.Where(live, inner.Div(cut(inner, state, rank - 1, 0, 1), root), zero)
        rest = inner.Sub(state, inner.Mul(column, inner.Transpose(column, perm=turn)))
        # The columns that are finished lose nothing: theirs are the rows after.
        wide = inner.Concat(cut(inner, rest, rank - 1, 1), column, axis=rank - 1)
        head, tail = cut(inner, wide, rank - 2, 0, 1), cut(inner, wide, rank - 2, 1)
        return inner.Identity(going), inner.Concat(tail, head, axis=rank - 2)

    (found,) = in_steps(build, trips, matrix, step)
    # Nothing says the rank of what a Loop gives; 0 copies a size.
    return build.Reshape(found, [0] * rank) if found.rank is None else found


def _factor(build: Builder, matrix: Value, size: int) -> Value:
    """Return the lower factor, reading the lower triangle only."""
    rank = need_rank(matrix)
    axes, turn = [rank - 2, rank - 1], [*range(rank - 2), rank - 1, rank - 2]

    def block(x: Value, rows: tuple[int, int], columns: tuple[int, int]) -> Value:
        first, last = zip(rows, columns, strict=True)
        return build.Slice(x, starts=list(first), ends=list(last), axes=axes)

    columns: list[Value] = []
    for step in range(size):
        left = size - step
        root = build.Sqrt(matrix if left == 1 else block(matrix, (0, 1), (0, 1)))
        # The root fills the rows above, which the mask makes zero: it is finite where all is well.
        parts = [root] * (step + 1)
        if left > 1:
            below = build.Div(block(matrix, (1, left), (0, 1)), root)
            parts.append(below)
            taken = build.Mul(below, build.Transpose(below, perm=turn))
            matrix = build.Sub(block(matrix, (1, left), (1, left)), taken)
        columns.append(build.Concat(*parts, axis=rank - 2) if len(parts) > 1 else root)
    if size == 1:
        return columns[0]
    mask: Array = np.tril(np.ones((size, size), dtype=matrix.dtype))
    whole = build.Concat(*columns, axis=rank - 1)
    return build.Mul(whole, mask.reshape((1,) * (rank - 2) + mask.shape))
