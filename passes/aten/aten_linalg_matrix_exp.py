"""Replace the exponential of matrices by a polynomial of the halved matrix that is squared again.

What it does: Halves a matrix until its largest column sum is at most 0.5, takes the first terms of
    the series of the exponential, and squares the result as often as the matrix was halved. How
    often is decided at run time, for each matrix, by Where.
Why engines need it: ONNX has no linear algebra, PyTorch's exporter writes ATen nodes, and its newer
    one does not translate them either.
Before: y = org.pytorch.aten.ATen <operator = "linalg_matrix_exp"> (a)      # a: float[3, 3]
After:
    size = ReduceMax (ReduceSum <axes = [0]> (Abs (a)))
    h = Where (Less (0.5, size), Mul (a, 0.5), a)                       # and so on
    e = Add (eye, MatMul (h, Add (eye, Mul (h, 1 / 2))))                # of more terms
    y = Where (Less (0.5, size), MatMul (e, e), e)                      # and so on
When it refuses: The rank or dtype is unknown, the matrices are not square, the type is not float32
    or float64, or the opset is below 11.
Accuracy: Approximate: up to rounding, which each squaring doubles, where the largest sum of the
    sizes of a column is at most 512. The series is cut where what is left is below the last digit.
References: pytorch/pytorch aten/src/ATen/native/LinearAlgebra.cpp (linalg_matrix_exp); Golub and
    Van Loan, Matrix Computations, 9.3 (scaling and squaring)
"""

from typing import Any

import numpy as np

from graphfix.authoring import APPROXIMATE, Array, Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._eliminating import COMPUTED, square_matrices, unit_matrix
from ._family import Family, Function, like

HALVINGS = 10
_SMALL = 0.5
_TERMS = {4: 9, 8: 15}


def _exponential(build: Builder, call: Call) -> Value:
    x = call.need("self")
    square_matrices(x)
    dtype, rank = x.dtype, x.rank
    if dtype not in COMPUTED or dtype is None or rank is None:
        raise Refuse(f"{x.name} must be float32 or float64; it is {x.type_name}")
    largest = _SMALL * 2**HALVINGS
    build.declare(
        APPROXIMATE,
        f"up to rounding where the sizes of each column add up to at most {largest:.0f}",
    )
    sums = build.ReduceSum(build.Abs(x), axes=[rank - 2], keepdims=1)
    size = build.ReduceMax(sums, axes=[rank - 1], keepdims=1)
    halved: list[Value] = []
    for step in range(HALVINGS):
        halved.append(build.Less(_number(build, x, _SMALL * 2**step), size))
        x = build.Where(halved[-1], build.Mul(x, 0.5), x)
    eye = unit_matrix(build, x)
    terms = _TERMS[dtype.itemsize]
    found = build.Add(eye, build.Mul(x, 1 / terms))
    for divisor in range(terms - 1, 0, -1):
        share = x if divisor == 1 else build.Mul(x, 1 / divisor)
        found = build.Add(eye, build.MatMul(share, found))
    for flag in halved:
        found = build.Where(flag, build.MatMul(found, found), found)
    return found


def _number(build: Builder, x: Value, number: float) -> Value:
    return build.constant(np.array(number, x.dtype))


def _model(call: ArrayCall) -> Any:
    """Halve and square as often, of all matrices at once, and take more terms.

    It is computed in the type of the matrices, so that the rounding of the squarings shows.

    Raises:
        Refuse: The sums of columns are larger than what is promised.
    """
    x = call.need("self")
    largest = float(np.abs(x).sum(-2).max(initial=0)) if x.size else 0.0
    if not largest <= _SMALL * 2**HALVINGS:
        raise Refuse("the sums of columns must be in the domain; they are not")
    times = max(0, int(np.ceil(np.log2(largest / _SMALL)))) if largest else 0
    work = x / x.dtype.type(2.0**times)
    eye: Array = np.eye(x.shape[-1], dtype=x.dtype)
    found: Array = np.broadcast_to(eye, x.shape)
    for divisor in range(20, 0, -1):
        found = eye + work @ found / x.dtype.type(divisor)
    for _ in range(times):
        found = found @ found
    return found


_EXPONENTIAL = Function(("self",), _exponential, _model, infer=like())
FAMILY = Family({"linalg_matrix_exp": _EXPONENTIAL, "matrix_exp": _EXPONENTIAL})


aten_linalg_matrix_exp = FAMILY.replaced(
    __name__,
    emits=(
        "Abs Add Cast Equal Gather Less MatMul Mul Range ReduceMax ReduceSum Shape Unsqueeze Where"
    ),
    accuracy=APPROXIMATE,
    opset=11,
)
