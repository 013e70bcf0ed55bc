"""Write a Cast to bool as a comparison with zero.

What it does:
    Compares the numbers with 0 and negates the result.

Why engines need it:
    MNN keeps the number, and what follows computes with its bits: 2 And 1 is false.

Before:
    y = Cast <to = BOOL> (x)

After:
    y = Not (Equal (x, 0))

When it refuses:
    The element type is no number or is not known, or Equal does not take it.

Accuracy:
    Exact; NaN is true.

References:
    https://onnx.ai/onnx/operators/onnx__Cast.html; measured on MNN 3.6.1
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("Cast", removes="form:Cast.to-bool dtype:Cast.bool", emits="Equal Not", claims="nan inf")
def cast_to_bool_by_comparison(node: NodeView, build: Builder) -> Value:
    """Compare, see the module."""
    x, y = node.need(0), node.output(0)
    if y is None or y.type_name != "bool":
        raise Refuse("it must cast to bool")
    if x.dtype is None or x.dtype.kind not in "iuf":
        raise Refuse(f"{x.name} must hold numbers; it is {x.type_name}")
    return build.Not(build.Equal(x, np.zeros((), x.dtype)))
