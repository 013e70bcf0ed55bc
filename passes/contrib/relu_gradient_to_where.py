"""Write ReluGrad as a choice.

What it does: Lets through what comes from the end where the activation was positive, and gives 0
    elsewhere.
Why engines need it: onnxruntime's training writes this operator into the models that it makes; only
    a build of onnxruntime for training has a kernel for it.
Before: dx = com.microsoft.ReluGrad (dy, y)
After: dx = Where (Greater (y, 0), dy, 0)
When it refuses: An operand is not known to be of floats.
Accuracy: Exact: numbers are chosen.
References: microsoft/onnxruntime orttraining/orttraining/core/graph/training_op_defs.cc and
    orttraining/orttraining/training_ops/cpu/op_gradients.cc
"""

from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Value, rewrite

from ._typing import need_float

_NAME = "com.microsoft::ReluGrad"


def numbers(inputs: list[Array | None], _: dict[str, Any]) -> tuple[Array, ...]:
    """Compute it with numpy."""
    dy, x = inputs[0], inputs[1]
    assert dy is not None, "its page wants it"
    assert x is not None, "its page wants it"
    return (np.where(x > 0, dy, np.zeros_like(dy)),)


@rewrite(_NAME, emits="Greater Where", evaluate=numbers)
def relu_gradient_to_where(node: NodeView, build: Builder) -> Value:
    """Let through where the activation was positive, see the module."""
    dy, x = node.need(0), node.need(1)
    need_float(dy)
    need_float(x)
    zero = np.array(0, x.dtype)
    return build.Where(build.Greater(x, zero), dy, np.array(0, dy.dtype))
