"""Replace activations and plain functions of one operand by standard operators.

What it does: Writes celu, elu, selu, gelu, softplus, hardshrink, softshrink, threshold, hardtanh,
    hardsigmoid, hardswish, mish, silu, log_sigmoid, leaky_relu, logit, and the functions that ONNX
    has itself (exp, log, sin, tanh, ...) in standard operators.
Why engines need it: Exporters that fall back to ATen, or are told to, write these as nodes that no
    engine knows.
Before: y = org.pytorch.aten.ATen <operator = "celu"> (x, 2.0)
After:
    low = Mul (exp (Mul (x, 0.5)) - 1, 2)
    y = Where (Less (0, x), x, low)
When it refuses: The type is unknown or no number, a number next to it is computed at run time, or
    the opset is below 9 (which brought Where), 11 for comparing floats.
Accuracy: Exact up to rounding; exp(x) - 1 and log(1 + x) keep their digits near 0. float16 and
    bfloat16 are computed in float32, integers in float32, as PyTorch does.
References: pytorch/pytorch aten/src/ATen/native/cpu/Activation.cpp, UnaryOpsKernel.cpp; D.
    Goldberg, What every computer scientist should know about floating-point arithmetic, theorem 4
"""

from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, Refuse, Value

from ._activations import ACTIVATIONS, Activation
from ._arguments import ArrayCall, Call
from ._arithmetic import held, larger, smaller
from ._axes import FLOATS
from ._family import Family, Function
from ._promoting import result_type, to_float, widest


def _function(name: str, activation: Activation) -> Function:
    def write(build: Builder, call: Call) -> Value:
        build.need_opset(11, " to compare floats")
        x = call.need("self")
        if call.operator in _KEEP and x.elem_type not in FLOATS:
            return _of_integers(build, call, x)
        found = activation.write(build, call, widest(build, to_float(build, x)))
        kind = result_type(x)
        return found if found.elem_type == kind else build.Cast(found, to=kind)

    def model(call: ArrayCall) -> Any:
        x = call.need("self")
        if x.dtype.kind == "i" and name in _OF_INTEGERS:
            return _integer_model(call, x)
        kind = x.dtype if x.dtype.kind == "f" or x.dtype.name == "bfloat16" else np.float32
        return np.asarray(activation.model(call, x.astype(np.float64))).astype(kind)

    return Function(activation.schema, write, model)


def _of_integers(build: Builder, call: Call, x: Value) -> Value:
    if call.operator not in _OF_INTEGERS or x.type_name not in ("int32", "int64"):
        raise Refuse(f"{x.name} must be floating point; it is {x.type_name}")
    low, high = _limits(call)
    if call.operator == "threshold":
        return build.Where(build.Less(held(build, x, low), x), x, held(build, x, high))
    return smaller(build, larger(build, x, held(build, x, low)), held(build, x, high))


def _limits(call: Call | ArrayCall) -> tuple[int, int]:
    """Return the two numbers of a call; PyTorch cuts off what is after the point."""
    first, second = call.schema[1:] or ("", "")
    if not first:
        return 0, 6
    return int(call.number(first, -1)), int(call.number(second, 1))


def _integer_model(call: ArrayCall, x: Array) -> Any:
    low, high = _limits(call)
    return np.where(x > low, x, high) if "threshold" in call.schema else np.clip(x, low, high)


_OF_INTEGERS = frozenset({"hardtanh", "relu6", "threshold"})
# These give integers for integers.
_KEEP = frozenset({"hardtanh", "relu6", "threshold", "hardshrink", "softshrink"})
FAMILY = Family({name: _function(name, one) for name, one in ACTIVATIONS.items()})


aten_activation = FAMILY.replaced(
    __name__,
    emits=(
        "Abs Acos Add And Asin Atan Cast Clip Cos Div Equal Erf Exp Less Log Max Min Mul Neg Not "
        "Pow Reciprocal Sigmoid Sin Softplus Sqrt Sub Tan Tanh Where"
    ),
)
