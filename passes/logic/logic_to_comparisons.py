"""Compute And, Or and Xor by comparing floats.

What it does: Casts both operands to float32, where true is 1 and false is 0. And is a product above
    one half, Or a sum above one half, Xor the two being unlike.
Why engines need it: OpenCV 4 has no logical operators, while it compares, multiplies and adds.
Before: y = And (a, b)
After:
    p = Cast <to = 1> (a)
    q = Cast <to = 1> (b)
    m = Mul (p, q)
    y = Greater (m, half)
When it refuses: Never; the operators take bools alone.
Accuracy: Exact: 0, 1 and 2 are floats.
References: https://onnx.ai/onnx/operators/onnx__And.html, onnx__Or.html, onnx__Xor.html
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Value, rewrite

_HALF = np.array(0.5, np.float32)


def _operands(node: NodeView, build: Builder) -> list[Value | Array]:
    """Return both operands as floats; a constant one as such, for engines without bools."""
    found: list[Value | Array] = []
    for value in (node.need(0), node.need(1)):
        known = build.const(value)
        found.append(
            build.Cast(value, to=TensorProto.FLOAT) if known is None else known.astype(np.float32)
        )
    return found


@rewrite(
    ("And", "Or", "Xor"),
    removes="op:And op:Or op:Xor dtype:And.bool dtype:Or.bool dtype:Xor.bool",
    emits="Abs Add Cast Greater Mul Sub",
    since=7,  # operands of another rank had an axis before
)
def logic_to_comparisons(node: NodeView, build: Builder) -> Value:
    """Compare what the numbers make, see the module."""
    first, second = _operands(node, build)
    if node.op == "And":
        return build.Greater(build.Mul(first, second), _HALF)
    if node.op == "Or":
        return build.Greater(build.Add(first, second), _HALF)
    return build.Greater(build.Abs(build.Sub(first, second)), _HALF)
