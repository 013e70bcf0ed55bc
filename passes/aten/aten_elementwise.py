"""Replace elementwise functions that torch.onnx leaves as ATen nodes by standard operators.

What it does:
    sinh, cosh, asinh, acosh and atanh become the operators of these names; expm1 is a polynomial
    up to 0.5 and Exp minus 1 beyond; sinc, entr, deg2rad, rad2deg, trunc, fix, frac, copysign,
    xlogy, hypot and logaddexp are written out, in forms that neither overflow nor divide by 0
    on the way.

Why engines need it:
    The exporter has no symbolic for these functions, and no engine an importer for ATen.

Before:
    y = org.pytorch.aten.ATen <operator = "expm1"> (x)

After:
    near = Mul (c, polynomial (c))                                   c = Clip (x, -0.5, 0.5)
    y = Where (Less (Abs (x), 0.5), near, Sub (Exp (x), 1))

When it refuses:
    A type is unknown or neither float16 nor float32, two operands have different types, or the
    opset is below 9, which brought Where.

Accuracy:
    Exact for trunc, fix, frac and copysign of float32. Approximate for the others: measured in
    onnxruntime, the error is at most 6e-7 of the value (of max(1, value) for logaddexp, and of
    1e-37 where hypot or entr take smaller numbers). float16 is computed in float32. NaN as sign
    of copysign, and NaN beside infinity in hypot, are not looked at.

References:
    pytorch/pytorch aten/src/ATen/native/cpu/UnaryOpsKernel.cpp, BinaryOpsKernel.cpp;
    https://pytorch.org/docs/stable/special.html
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    APPROXIMATE,
    EXACT,
    Array,
    Builder,
    InferredType,
    NodeView,
    Refuse,
    Value,
    rewrite,
)
from graphfix.passes.aten._arguments import ArrayCall, call_of, features, matching
from graphfix.passes.aten._elementwise import BINARY, EXACT_ONES, UNARY

SCHEMAS = {
    **dict.fromkeys(UNARY, ("self",)),
    **dict.fromkeys(BINARY, ("self", "other")),
}
NAMES = tuple(SCHEMAS)
NOTE = "float32: error at most 6e-7 of the value, or of 1 where the value is below"


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """The result is like the input, or as broadcasting says."""
    x, other = node.input(0), node.input(1)
    if x is None or not x.elem_type:
        return (None,)
    if other is None:
        return (InferredType(x.elem_type, x.shape),)
    if x.static_shape is None or other.static_shape is None:
        same = x.shape is not None and x.shape == other.shape and None not in x.shape
        return (InferredType(x.elem_type, x.shape if same else None),)
    try:
        shape = np.broadcast_shapes(x.static_shape, other.static_shape)
    except ValueError:
        return (None,)
    return (InferredType(x.elem_type, shape),)


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Use numpy, in float64."""
    operator = str(attributes["operator"]).removeprefix("aten::").partition(".")[0]
    call = ArrayCall(inputs, attributes, SCHEMAS[operator])
    arrays = [call.need(name) for name in SCHEMAS[operator]]
    model = UNARY[operator].model if operator in UNARY else BINARY[operator].model
    with np.errstate(all="ignore"):
        # The product with pi is rounded in PyTorch before the sine is taken.
        wide = [a if operator.endswith("sinc") else a.astype(np.float64) for a in arrays]
        return (np.asarray(model(*wide)).astype(arrays[0].dtype),)


@rewrite(
    matching(NAMES),
    removes=features(NAMES),
    emits=(
        "Abs Acosh Add Asinh Atanh Cast Clip Cosh Div Exp Floor Less Log Max Min Mul Neg Or "
        "Reciprocal Sin Sinh Sqrt Sub Where"
    ),
    accuracy=APPROXIMATE,
    infer=infer,
    evaluate=evaluate,
    claims="inf",
)
def aten_elementwise(node: NodeView, build: Builder) -> Value:
    """Write the function out, see the module."""
    call = call_of(node, SCHEMAS)
    values = [call.need(name) for name in call.schema]
    first = values[0]
    for value in values:
        if value.elem_type not in (TensorProto.FLOAT, TensorProto.FLOAT16):
            raise Refuse(f"{value.name} must be float32 or float16; it is {value.type_name}")
        if value.elem_type != first.elem_type:
            raise Refuse(
                f"the operands must have one dtype; they are {first.type_name} and "
                f"{value.type_name}"
            )
    if build.opset < 9:
        raise Refuse(f"the opset must be at least 9, which has Where; it is {build.opset}")
    exact = call.operator in EXACT_ONES and first.elem_type == TensorProto.FLOAT
    build.declare(EXACT if exact else APPROXIMATE, "" if exact else NOTE)
    half = first.elem_type == TensorProto.FLOAT16
    wide = [build.Cast(v, to=TensorProto.FLOAT) for v in values] if half else values
    if call.operator in UNARY:
        result = UNARY[call.operator].write(build, wide[0])
    else:
        result = BINARY[call.operator].write(build, wide[0], wide[1])
    return build.Cast(result, to=TensorProto.FLOAT16) if half else result
