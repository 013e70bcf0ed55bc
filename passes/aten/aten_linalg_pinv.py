"""Replace linalg_pinv by an iteration that converges to the pseudo-inverse.

What it does: Begins with the transpose, divided by the sum of the squares, and repeats X (2 I - A
    X), which doubles the number of right digits each time in the end. It branches on nothing.
Why engines need it: ONNX has no pseudo-inverse, and exporters wrote an ATen node.
Before: y = ATen <operator = "linalg_pinv"> (a, rcond, hermitian)        a: [..., M, N]
After:
    x = Div (Transpose (a), ReduceSum (Mul (a, a)))
    x = MatMul (x, Sub (2 I, MatMul (a, x)))                         # 40 times
When it refuses: The rank is unknown, the number of rows is below opset 11, the dtype is not float32
    or float64, a tolerance above 1e-6 is given, or the matrix is declared Hermitian.
Accuracy: Approximate: within 1e-3 of the largest element where the ratio of the largest singular
    value to the smallest one that is not 0 is below 1e3, in float32. PyTorch takes singular values
    below a tolerance for 0; matrices that have such are outside of the domain unless they are 0.
References: A. Ben-Israel and D. Cohen, On iterative computation of generalized inverses (1966);
    pytorch/pytorch aten/src/ATen/native/LinearAlgebra.cpp (linalg_pinv)
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    APPROXIMATE,
    Array,
    Builder,
    InferredType,
    NodeView,
    Refuse,
    Value,
    need_type,
)

from ._arguments import ArrayCall, call_of, replacing
from ._eliminating import unit_matrix

NAMES = ("linalg_pinv", "pinverse")
SCHEMAS = {"linalg_pinv": ("A", "atol", "rtol", "hermitian"), "pinverse": ("A", "rtol")}
ROUNDS = 40
_LARGEST_TOLERANCE = 1e-6
_TINY = 1e-30


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """The last two sizes change places."""
    x = node.input(0)
    if x is None or not x.elem_type:
        return (None,)
    if x.shape is None or len(x.shape) < 2:
        return (InferredType(x.elem_type, None),)
    return (InferredType(x.elem_type, (*x.shape[:-2], x.shape[-1], x.shape[-2])),)


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Use numpy, with PyTorch's tolerance."""
    x = ArrayCall(inputs, attributes, SCHEMAS["linalg_pinv"]).need("A")
    tolerance = max(x.shape[-2:]) * float(np.finfo(x.dtype).eps)
    return (np.linalg.pinv(x.astype(np.float64), rcond=tolerance).astype(x.dtype),)


@replacing(
    NAMES,
    emits=(
        "Abs Cast Div Equal Gather MatMul Max Mul Range ReduceSum Shape Sub Transpose Unsqueeze"
    ),
    accuracy=APPROXIMATE,
    infer=infer,
    evaluate=evaluate,
)
def aten_linalg_pinv(node: NodeView, build: Builder) -> Value:
    """Iterate, see the module."""
    call = call_of(node, SCHEMAS)
    a = call.need("A")
    need_type(a, (TensorProto.FLOAT, TensorProto.DOUBLE))
    if a.rank is None or a.rank < 2:
        raise Refuse(f"the rank of {a.name} must be at least 2; it is {a.rank}")
    if a.dim(-2) is None and build.opset < 11:
        raise Refuse(f"the number of rows of {a.name} must be known below opset 11; it is open")
    given = [call.number(name) for name in ("atol", "rtol") if name in SCHEMAS[_name(node)]]
    if any(number is not None and number > _LARGEST_TOLERANCE for number in given):
        raise Refuse(f"a tolerance must be at most {_LARGEST_TOLERANCE}; one is larger")
    if "hermitian" in SCHEMAS[_name(node)] and call.number("hermitian", 0):
        raise Refuse("the whole matrix must be read, not a triangle of it (hermitian)")
    build.declare(
        APPROXIMATE,
        "within 1e-3 of the largest element where the largest singular value is less than 1000 "
        "times the smallest one that is not 0",
    )
    order = [*range(a.rank - 2), a.rank - 1, a.rank - 2]
    if 0 in (a.dim(-2), a.dim(-1)):
        return build.Transpose(a, perm=order)
    both = [a.rank - 2, a.rank - 1]
    # Elements of about one; a matrix of zeros stays one.
    size = build.Max(build.ReduceSum(build.Abs(a), axes=both, keepdims=1), _TINY)
    unit = build.Div(a, size)
    norm = build.Max(build.ReduceSum(build.Mul(unit, unit), axes=both, keepdims=1), _TINY)
    inverse = build.Div(build.Transpose(unit, perm=order), norm)
    double = build.Mul(unit_matrix(build, a, -2), 2.0)
    for _ in range(ROUNDS):
        inverse = build.MatMul(inverse, build.Sub(double, build.MatMul(unit, inverse)))
    return build.Div(inverse, size)


def _name(node: NodeView) -> str:
    operator = str(node.attr("operator", "") or node.op)
    return "pinverse" if "pinverse" in operator else "linalg_pinv"
