"""Replace a Cholesky factorisation by its steps.

What it does:
    Factors stacks of symmetric matrices column by column: the square root of the pivot, the
    column divided by it, and its product with itself taken from what remains. A constant mask
    makes the other triangle zero. Only the triangle that PyTorch reads is read.

Why engines need it:
    ONNX has no such operator, and PyTorch's exporter writes an ATen node (linalg_cholesky,
    linalg_cholesky_ex or cholesky).

Before:
    y = org.pytorch.aten.ATen <operator = "linalg_cholesky"> (x, 0)      # x: float[B, 3, 3]

After:
    root = Sqrt (Slice (x))                                              # [B, 1, 1]
    column = Div (Slice (x), root)                                       # [B, 2, 1]
    rest = Sub (Slice (x), Mul (column, Transpose (column)))             # [B, 2, 2]
    ...
    y = Mul (Concat (columns), mask)

When it refuses:
    The rank or dtype is unknown, the matrices are not square, larger than the option
    `max_unrolled` allows or of dynamic size, the type is not float16, float32 or float64, or the
    error counts of linalg_cholesky_ex are used.

Accuracy:
    Exact up to rounding, as LAPACK's factorisation which PyTorch uses. float16 is computed in
    float32. A matrix that is not positive definite, for which PyTorch raises an error, gives NaN
    or infinities in its own entry of the stack.

References:
    pytorch/pytorch aten/src/ATen/native/BatchLinearAlgebra.cpp (linalg_cholesky_ex);
    Golub and Van Loan, Matrix Computations, 4.2 (Cholesky factorisation).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphfix.authoring import (
    Array,
    Builder,
    NodeView,
    Option,
    Refuse,
    Value,
    rewrite,
)
from graphfix.passes.aten._arguments import ArrayCall, call_of, features, matching
from graphfix.passes.aten._axes import widened
from graphfix.passes.aten._pivoting import like_matrices, square_matrices

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


@rewrite(
    matching(NAMES),
    removes=features(NAMES),
    emits="Cast Concat Div Mul Slice Sqrt Sub Transpose",
    options={"max_unrolled": Option(int, 16, "Largest matrix, about 10 nodes a row.")},
    infer=like_matrices,
    evaluate=evaluate,
)
def aten_linalg_cholesky(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Factor column by column, see the module."""
    call = call_of(node, dict.fromkeys(NAMES, SCHEMA))
    info = node.output(1)
    if info is not None and info.is_used:
        raise Refuse("the error counts of linalg_cholesky_ex must not be used; they are")
    x, upper = call.need("self"), bool(call.number("upper", 0))
    size = square_matrices(x)
    if size is None:
        raise Refuse("the size of the matrices must be known; it is dynamic")
    if not 0 < size <= build.option("max_unrolled"):
        raise Refuse(f"the matrices must have 1 to max_unrolled rows; they have {size}")
    rank = x.rank
    assert rank is not None  # square_matrices has looked
    turn = [*range(rank - 2), rank - 1, rank - 2]

    def work(matrix: Value) -> Value:
        lower = _factor(build, build.Transpose(matrix, perm=turn) if upper else matrix, size)
        return build.Transpose(lower, perm=turn) if upper else lower

    return (widened(build, x, work), *([None] * (len(node.outputs) - 1)))


def _factor(build: Builder, matrix: Value, size: int) -> Value:
    """Return the lower factor, reading the lower triangle only."""
    rank = matrix.rank
    assert rank is not None
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
