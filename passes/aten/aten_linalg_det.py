"""Replace a determinant by elimination with partial pivoting.

What it does: Computes the determinants of stacks of square matrices as the product of the pivots
    and the signs of the row exchanges, step by step, for matrices up to the option `max_unrolled`.
Why engines need it: ONNX has Det since opset 11 and hardly an engine implements it; below, PyTorch
    writes an ATen node (linalg_det, det).
Before: y = Det (x)                                     # x: float[B, 3, 3]
After:
    place = ArgMax <axis = 1> (Abs (first column))
    pivot = ReduceSum <axes = [1]> (Mul (x, Cast (Equal (place, [0, 1, 2]))))
    rest = Where (Equal (place, [1, 2]), head, tail)
    ...                                             # rest - column / pivot * row, twice
    y = Mul (Mul (first pivots), signs)
When it refuses: The rank or dtype is unknown, the matrices are not square or larger than the option
    allows, their size is dynamic, or the type is not float16, float32 or float64.
Accuracy: Exact up to rounding, as LAPACK's factorisation which PyTorch uses: measured with
    condition numbers up to 1e4. A singular matrix whose elimination meets a column of zeros gives
    0, as in PyTorch. float16 is computed in float32.
References: pytorch/pytorch aten/src/ATen/native/BatchLinearAlgebra.cpp (linalg_det);
    https://onnx.ai/onnx/operators/onnx__Det.html; Golub and Van Loan, Matrix Computations, 3.4
    (partial pivoting).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Array,
    Builder,
    InferredType,
    NodeView,
    Option,
    Refuse,
    Value,
    need_rank,
    needed,
    rewrite,
)

from ._arguments import call_of, features, matching
from ._eliminating import signed_pivots, square_matrices

NAMES = ("linalg_det", "det")
SCHEMAS = {"linalg_det": ("A",), "det": ("self",), "Det": ("X",)}


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """One value for each matrix."""
    x = node.input(0)
    if x is None or not x.elem_type:
        return (None,)
    return (InferredType(x.elem_type, None if x.shape is None else x.shape[:-2]),)


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Use numpy, in float64."""
    x = inputs[0]
    assert x is not None
    return (np.asarray(np.linalg.det(x.astype(np.float64)), dtype=x.dtype),)


@rewrite(
    (*matching(NAMES), "Det"),
    removes=(*features(NAMES), "op:Det"),
    emits=(
        "Abs Add ArgMax Cast Div Equal Greater Mul ReduceMax ReduceMin ReduceSum Reshape Slice "
        "Squeeze Sub Where"
    ),
    options={"max_unrolled": Option(int, 8, "Largest matrix, about 22 nodes a row.")},
    infer=infer,
    evaluate=evaluate,
)
def aten_linalg_det(node: NodeView, build: Builder) -> Value:
    """Multiply the pivots of an elimination, see the module."""
    call = call_of(node, SCHEMAS)
    x = call.need(call.schema[0])
    size = needed(square_matrices(x), "the size of the matrices must be known; it is dynamic")
    if not 0 < size <= build.option("max_unrolled"):
        raise Refuse(f"the matrices must have 1 to max_unrolled rows; they have {size}")
    half = x.elem_type == TensorProto.FLOAT16
    work = build.Cast(x, to=TensorProto.FLOAT) if half else x
    product, *others = signed_pivots(build, work, size)
    for pivot in others:
        product = build.Mul(product, pivot)
    rank = need_rank(x)
    kept = [dim if isinstance(dim, int) else -1 for dim in (x.shape or ())[:-2]]
    if kept.count(-1) <= 1 and 0 not in kept:
        result = build.Reshape(product, kept)
    else:
        result = build.Squeeze(product, axes=[rank - 2, rank - 1])
    return build.Cast(result, to=TensorProto.FLOAT16) if half else result
