"""Replace a matrix inverse by Gauss-Jordan elimination with partial pivoting.

What it does: Inverts stacks of square matrices with Slice, Abs, ArgMax, Equal, Where, Mul, Sub, Div
    and Concat. Matrices up to the option `max_unrolled` are eliminated step by step in the graph,
    about 19 nodes for each row; larger ones, and those whose size is not known, in a Loop whose
    state keeps its shape. Each step takes the row with the largest entry of the first column as
    pivot, as LAPACK does, divides it, subtracts it from all others and drops the column; the
    finished row goes to the end.
Why engines need it: ONNX has no inverse, so PyTorch writes an ATen node (operator linalg_inv,
    inverse or linalg_inv_ex), ONNX Runtime has com.microsoft::Inverse, and neither is known
    elsewhere.
Before: y = org.pytorch.aten.ATen <operator = "linalg_inv"> (x)      # x: float[B, 3, 3]
After:
    m0 = Concat <axis = 2> (x, identity)                          # [B, 3, 6]
    place = ArgMax <axis = 1> (Abs (Slice (m0)))                  # the pivot's row
    pivot = ReduceSum <axes = [1]> (Mul (m0, Cast (Equal (place, [0, 1, 2]))))
    rest = Where (Equal (place, [1, 2]), head, tail)
    row = Div (pivot without its first column, pivot's first column)
    m1 = Concat <axis = 1> (Sub (rest, Mul (rest's first column, row)), row)
    ...                                                           # m3 is the inverse
When it refuses: The rank or dtype is unknown, the matrices are not square, the type is not float16,
    float32 or float64, or the size is dynamic below opset 11 (which brought Range).
Accuracy: Exact up to rounding: measured on random, nearly singular (condition 1e4), permuted, zero
    diagonal and badly scaled matrices of 2 to 16 rows, median and 99% error equal those of
    torch.linalg.inv. float16 is computed in float32. A closed form (adjugate by determinant) is not
    used, because it loses digits on ill-conditioned matrices. A singular matrix, for which PyTorch
    raises an error, gives infinities or NaN in its own entry of the stack. What a matrix with
    infinities or NaN gives may differ from PyTorch, in its own entry as well. Approximate where the
    error counts of linalg_inv_ex are used: rounding decides whether the pivot of a matrix that is
    nearly singular is 0, and where it is PyTorch leaves open what its inverse is.
References: pytorch/pytorch aten/src/ATen/native/native_functions.yaml (linalg_inv, inverse,
    linalg_inv_ex); microsoft/onnxruntime docs/ContribOperators.md (com.microsoft.Inverse);
    https://onnx.ai/onnx/operators/onnx__Loop.html; Golub and Van Loan, Matrix Computations, 3.4
    (partial pivoting).
"""

from typing import Any

import numpy as np

from graphfix.authoring import APPROXIMATE, Array, Builder, NodeView, Option, Value, rewrite

from ._arguments import call_of, features, matching
from ._eliminating import EMITS, eliminated, like_matrices, solution, with_pivots
from ._error_counts import DECIDED, zero_pivots
from ._error_counts import EMITS as COUNTING

NAMES = ("linalg_inv", "inverse", "linalg_inv_ex")
SCHEMAS = {
    "linalg_inv": ("A",),
    "inverse": ("self",),
    "linalg_inv_ex": ("A", "check_errors"),
    "Inverse": ("X",),
}


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Invert by elimination, see `solution`.

    Raises:
        numpy.linalg.LinAlgError: A matrix is singular, where PyTorch raises as well.
    """
    x = inputs[0]
    assert x is not None
    eye: Array = np.eye(x.shape[-1], dtype=x.dtype)
    return solution(x, eye), np.zeros(x.shape[:-2], dtype=np.int32)


@rewrite(
    (*matching(NAMES), "com.microsoft::Inverse", "Inverse"),
    removes=(*features(NAMES), "op:com.microsoft::Inverse op:Inverse"),
    emits=f"{EMITS} {COUNTING}",
    options={
        "max_unrolled": Option(
            int, 8, "Largest matrix that is eliminated without a Loop, about 19 nodes a row."
        )
    },
    infer=like_matrices,
    evaluate=evaluate,
)
def aten_linalg_inv(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Invert by elimination, see the module."""
    call = call_of(node, SCHEMAS)
    x, most, info = call.need(call.schema[0]), build.option("max_unrolled"), node.output(1)
    if info is None or not info.is_used:
        return (eliminated(build, x, None, most), *([None] * (len(node.outputs) - 1)))
    build.declare(APPROXIMATE, DECIDED)
    inverse, pivots = with_pivots(build, x, None, most)
    return inverse, zero_pivots(build, pivots)
