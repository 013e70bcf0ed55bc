"""Take FastGelu apart.

What it does: Writes com.microsoft::FastGelu, with or without bias, as the arithmetic that it is
    short for: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
Why engines need it: FastGelu is an operator of onnxruntime's optimiser; other engines do not know
    it.
Before: y = com.microsoft.FastGelu (x, bias)
After:
    t = Add (x, bias)
    u = Mul (t, Add (Mul (Mul (t, t), 0.0356774081), 0.7978845608))
    y = Mul (Mul (t, 0.5), Add (Tanh (u), 1))
When it refuses: The dtype is unknown or not floating point.
Accuracy: Exact up to rounding; float16 and bfloat16 are computed in float32. onnxruntime's float64
    has the constants of float32, and is up to 3e-7 away from the formula that is computed here.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.FastGelu
"""

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Value, rewrite

from . import _gelu as gelu
from ._means import like, wide
from ._typing import need_float


def evaluate(inputs: list[Array | None], attributes: dict[str, object]) -> tuple[Array, ...]:
    """Compute in float64."""
    x = inputs[0]
    assert x is not None  # the schema wants it
    work = x.astype(np.float64)
    if len(inputs) > 1 and inputs[1] is not None:
        work = work + inputs[1].astype(np.float64)
    return (gelu.tanh_of(work).astype(x.dtype),)


@rewrite("com.microsoft::FastGelu", emits="Add Cast Mul Tanh", evaluate=evaluate)
def fast_gelu_to_tanh(node: NodeView, build: Builder) -> Value:
    """Write the arithmetic, see the module."""
    x, bias = node.need(0), node.input(1)
    need_float(x)
    t = wide(build, x)
    if bias is not None:
        t = build.Add(t, wide(build, bias))
    return like(build, x, gelu.by_tanh(build, t))
