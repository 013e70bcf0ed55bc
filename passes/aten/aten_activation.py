"""Replace activations and plain functions of one operand by standard operators.

What it does:
    Writes celu, elu, selu, gelu, softplus, hardshrink, softshrink, threshold, hardtanh,
    hardsigmoid, hardswish, mish, silu, log_sigmoid, leaky_relu, logit, and the functions that ONNX
    has itself (exp, log, sin, tanh, ...) in standard operators.

Why engines need it:
    Exporters that fall back to ATen, or are told to, write these as nodes that no engine knows.

Before:
    y = org.pytorch.aten.ATen <operator = "celu"> (x, 2.0)

After:
    low = Mul (exp (Mul (x, 0.5)) - 1, 2)
    y = Where (Less (0, x), x, low)

When it refuses:
    The type is unknown or no number, a number beside it is computed at run time, or the opset is
    below 9 (which brought Where), 11 for comparing floats.

Accuracy:
    Exact up to rounding; exp(x) - 1 and log(1 + x) keep their digits near 0. float16 and bfloat16
    are computed in float32, integers in float32, as PyTorch does.

References:
    pytorch/pytorch aten/src/ATen/native/cpu/Activation.cpp, UnaryOpsKernel.cpp;
    D. Goldberg, What every computer scientist should know about floating-point arithmetic,
    theorem 4
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphfix.authoring import Builder, InferredType, NodeView, Refuse, Value, rewrite
from graphfix.passes.aten._activations import ACTIVATIONS, Activation
from graphfix.passes.aten._arguments import ArrayCall, Call, features, matching
from graphfix.passes.aten._axes import FLOATS
from graphfix.passes.aten._family import Family, Function
from graphfix.passes.aten._promoting import result_type, to_float, widest


def _function(activation: Activation) -> Function:
    def write(build: Builder, call: Call) -> Value:
        if build.opset < 11:
            raise Refuse(f"the opset must be at least 11 to compare floats; it is {build.opset}")
        x = call.need("self")
        if call.operator in _KEEP and x.elem_type not in FLOATS:
            raise Refuse(f"{x.name} must be floating point; it is {x.type_name}")
        found = activation.write(build, call, widest(build, to_float(build, x)))
        kind = result_type(x)
        return found if found.elem_type == kind else build.Cast(found, to=kind)

    def infer(call: Call) -> Sequence[InferredType | None]:
        x = call.need("self")
        return (InferredType(result_type(x), x.shape) if x.elem_type else None,)

    def model(call: ArrayCall) -> Any:
        x = call.need("self")
        kind = x.dtype if x.dtype.kind == "f" or x.dtype.name == "bfloat16" else np.float32
        return np.asarray(activation.model(call, x.astype(np.float64))).astype(kind)

    return Function(activation.schema, write, model, infer)


# These give integers for integers.
_KEEP = frozenset({"hardtanh", "relu6", "threshold", "hardshrink", "softshrink"})
FAMILY = Family({name: _function(one) for name, one in ACTIVATIONS.items()})


@rewrite(
    matching(FAMILY.names),
    removes=features(FAMILY.names),
    emits=(
        "Abs Acos Add And Asin Atan Cast Clip Cos Div Equal Erf Exp Less Log Mul Neg Not Pow "
        "Reciprocal Sigmoid Sin Softplus Sqrt Sub Tan Tanh Where"
    ),
    infer=FAMILY.infer,
    evaluate=FAMILY.evaluate,
)
def aten_activation(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Write the function out, see the module."""
    return FAMILY.write(node, build)
