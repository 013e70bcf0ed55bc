"""Write the gradients of Gelu as the arithmetic that they are.

What it does: Writes out the derivative of the curve (by erf or by tanh) at x, or at x with a bias,
    times what comes from the end.
Why engines need it: onnxruntime's training writes these operators into the models that it makes;
    only a build of onnxruntime for training has kernels for them.
Before: dx = com.microsoft.GeluGrad (dy, x)
After:
    share = Mul (Add (Erf (Mul (x, 0.7071)), 1), 0.5)
    density = Mul (Exp (Mul (Mul (x, x), -0.5)), 0.3989)
    dx = Mul (dy, Add (share, Mul (x, density)))
When it refuses: An operand is not known to be of floats.
Accuracy: Exact up to rounding; float16 and bfloat16 are computed in float32.
References: microsoft/onnxruntime orttraining/orttraining/core/graph/training_op_defs.cc and
    orttraining/orttraining/training_ops/cpu/activation/activations_grad.cc
"""

import math
from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Value, rewrite

from ._means import like, wide
from ._typing import need_float

_ROOT = math.sqrt(2 / math.pi)
_CUBE = 0.044715
_DENSITY = math.sqrt(0.5 / math.pi)  # of the normal distribution at 0
_NAMES = tuple(
    f"com.microsoft::{name}"
    for name in ("GeluGrad", "FastGeluGrad", "BiasGeluGrad_dX", "BiasFastGeluGrad_dX")
)


def _derivative(node: NodeView, build: Builder, x: Value) -> Value:
    if "Fast" in node.op:
        square = build.Mul(x, x)
        curve = build.Tanh(build.Mul(x, build.Add(build.Mul(square, _CUBE * _ROOT), _ROOT)))
        slope = build.Mul(x, build.Add(build.Mul(square, 3 * _CUBE * _ROOT), _ROOT))
        bent = build.Mul(build.Sub(1, build.Mul(curve, curve)), slope)
        return build.Mul(build.Add(build.Add(curve, 1), bent), 0.5)
    share = build.Mul(build.Add(build.Erf(build.Mul(x, math.sqrt(0.5))), 1), 0.5)
    density = build.Mul(build.Exp(build.Mul(build.Mul(x, x), -0.5)), _DENSITY)
    return build.Add(share, build.Mul(x, density))


def numbers(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Compute them in float64; `attributes` has the operator."""
    dy, x = inputs[0], inputs[1]
    assert dy is not None, "its page wants it"
    assert x is not None, "its page wants it"
    at = x.astype(np.float64)
    if len(inputs) > 2 and inputs[2] is not None:
        at = at + inputs[2]
    if "Fast" in attributes["operator"]:
        curve = np.tanh(_ROOT * (at + _CUBE * at**3))
        slope = 0.5 * (1 + curve) + 0.5 * at * (1 - curve**2) * _ROOT * (1 + 3 * _CUBE * at**2)
    else:
        share = np.asarray(np.frompyfunc(math.erf, 1, 1)(at * math.sqrt(0.5)), np.float64)
        slope = 0.5 * (1 + share) + at * _DENSITY * np.exp(-0.5 * at**2)
    return ((dy * slope).astype(dy.dtype),)


@rewrite(_NAMES, emits="Add Cast Erf Exp Mul Sub Tanh", evaluate=numbers)
def gelu_gradients_to_arithmetic(node: NodeView, build: Builder) -> Value:
    """Write the derivative out, see the module."""
    dy, x, bias = node.need(0), node.need(1), node.input(2)
    need_float(dy)
    need_float(x)
    at = wide(build, x)
    if bias is not None:
        at = build.Add(at, wide(build, bias))
    return like(build, dy, build.Mul(wide(build, dy), _derivative(node, build, at)))
