"""Replace elementwise functions that torch.onnx leaves as ATen nodes by standard operators.

What it does: sinh, cosh, asinh, acosh and atanh become the operators of these names; expm1 is a
    polynomial up to 0.5 and Exp minus 1 beyond; sinc, entr, deg2rad, rad2deg, trunc, fix, frac,
    angle, copysign, xlogy, hypot and logaddexp are written out, in forms that neither overflow nor
    divide by 0 on the way.
Why engines need it: The exporter has no symbolic for these functions, and no engine an importer for
    ATen.
Before: y = org.pytorch.aten.ATen <operator = "expm1"> (x)
After:
    near = Mul (c, polynomial (c))                                   c = Clip (x, -0.5, 0.5)
    y = Where (Less (Abs (x), 0.5), near, Sub (Exp (x), 1))
When it refuses: A type is unknown or float64 or bfloat16, ranks are unknown where types differ, or
    the opset is below 9, which brought Where.
Accuracy: Exact for trunc, fix, frac, angle and copysign of float32. Approximate for the others:
    measured in onnxruntime, the error is at most 6e-7 of the value (of max(1, value) for logaddexp,
    and of 1e-37 where hypot or entr take smaller numbers). float16 is computed in float32. NaN as
    sign of copysign, and NaN next to infinity in hypot, are not looked at.
References: pytorch/pytorch aten/src/ATen/native/cpu/UnaryOpsKernel.cpp, BinaryOpsKernel.cpp;
    https://pytorch.org/docs/stable/special.html
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    APPROXIMATE,
    EXACT,
    Array,
    Builder,
    NodeView,
    Refuse,
    Value,
)

from ._arguments import ArrayCall, call_of, replacing
from ._elementwise import BINARY, EXACT_ONES, UNARY
from ._promoting import common_dtype, of_one_type

SCHEMAS = {**dict.fromkeys(UNARY, ("self",)), **dict.fromkeys(BINARY, ("self", "other"))}
NAMES = tuple(SCHEMAS)
_WHOLE = frozenset({"trunc", "fix"})  # these leave integers as they are
NOTE = "float32: error at most 6e-7 of the value, or of 1 where the value is below"


def _dtype(operator: str, operands: Sequence[Value | Array]) -> np.dtype[Any]:
    return common_dtype(operands, to_float=operator not in _WHOLE)


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Use numpy, in float64."""
    operator = str(attributes["operator"]).removeprefix("aten::").partition(".")[0]
    call = ArrayCall(inputs, attributes, SCHEMAS[operator])
    arrays = [call.need(name) for name in SCHEMAS[operator]]
    dtype = _dtype(operator, arrays)
    arrays = [array.astype(dtype) for array in arrays]
    model = UNARY[operator].model if operator in UNARY else BINARY[operator].model
    with np.errstate(all="ignore"):
        # The product with pi is rounded in PyTorch before the sine is taken.
        wide = [a if operator.endswith("sinc") else a.astype(np.float64) for a in arrays]
        return (np.asarray(model(*wide)).astype(dtype),)


@replacing(
    NAMES,
    emits=(
        "Abs Acosh Add Asinh Atanh Cast Clip Cosh Div Exp Floor Identity Less Log Max Min "
        "Mul Neg Or Reciprocal Sin Sinh Sqrt Sub Where"
    ),
    accuracy=APPROXIMATE,
    evaluate=evaluate,
    claims="inf",
)
def aten_elementwise(node: NodeView, build: Builder) -> Value:
    """Write the function out, see the module."""
    call = call_of(node, SCHEMAS)
    values = [call.need(name) for name in call.schema]
    dtype = _dtype(call.operator, values)
    if dtype.kind != "f" and call.operator in _WHOLE:
        build.declare(EXACT, "")
        return build.Identity(values[0])
    if dtype.name not in ("float32", "float16"):
        raise Refuse(f"{values[0].name} must be float32 or float16; it is {dtype}")
    build.need_opset(9, ", which has Where")
    exact = call.operator in EXACT_ONES and dtype == np.float32
    build.declare(EXACT if exact else APPROXIMATE, "" if exact else NOTE)
    half = dtype == np.float16
    cast = [value for value in of_one_type(build, values, np.dtype(np.float32)) if value]
    if call.operator in UNARY:
        result = UNARY[call.operator].write(build, cast[0])
    else:
        result = BINARY[call.operator].write(build, cast[0], cast[1])
    return build.Cast(result, to=TensorProto.FLOAT16) if half else result
