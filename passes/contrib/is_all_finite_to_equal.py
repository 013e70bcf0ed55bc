"""Take IsAllFinite apart.

What it does: Asks every number of every input, whether it is not a number or infinite (or one of
    both, where the attributes say so), and joins the answers.
Why engines need it: It is an operator of onnxruntime's training; other engines do not know it.
Before: y = com.microsoft.IsAllFinite (a, b)
After: y = Greater (ReduceMin (Cast (Not (IsNaN (Sub (a, a))))), 0.5)
When it refuses: The dtype of an input is unknown or not floating point.
Accuracy: Exact.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.IsAllFinite
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Value, rewrite

from ._means import wide
from ._typing import need_float

_FINITE = "com.microsoft::IsAllFinite"


def all_finite(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Look at every number."""
    found = [x.astype(np.float64) for x in inputs if x is not None]
    bad = [np.isnan(x) | np.isinf(x) for x in found]
    if attributes.get("isnan_only"):
        bad = [np.isnan(x) for x in found]
    elif attributes.get("isinf_only"):
        bad = [np.isinf(x) for x in found]
    return (np.array(not any(one.any() for one in bad)),)


@rewrite(
    _FINITE,
    emits="Cast Concat Equal Greater IsInf IsNaN Not Or ReduceMin Reshape Sub",
    evaluate=all_finite,
    claims="nan inf",
)
def is_all_finite_to_equal(node: NodeView, build: Builder) -> Value:
    """Take IsAllFinite apart: each number is asked."""
    flags: list[Value] = []
    for value in node.inputs:
        if value is None:
            continue
        need_float(value)
        flat = build.Reshape(wide(build, value), np.array([-1]))
        if int(node.attr("isnan_only", 0)):
            bad = build.IsNaN(flat)
        elif int(node.attr("isinf_only", 0)):
            bad = build.IsInf(flat)
        else:
            bad = build.IsNaN(build.Sub(flat, flat))
        flags.append(build.Cast(build.Not(bad), to=TensorProto.FLOAT))
    joined = build.Concat(*flags, axis=0) if len(flags) > 1 else flags[0]
    least = build.ReduceMin(joined, axes=[0], keepdims=0)
    return build.Greater(least, np.float32(0.5))
