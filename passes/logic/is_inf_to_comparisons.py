"""Replace IsInf by comparisons with infinity.

What it does: Compares the number with infinity, with minus infinity, or its absolute value with
    infinity, as detect_positive and detect_negative ask for.
Why engines need it: TensorRT has an importer for IsInf from 8.6 on. TVM finds both
    infinities, whatever the attributes ask for.
Before: y = IsInf (x)
After: y = Equal (Abs (x), inf)
When it refuses: The elements are not floating point numbers, or both detections are off.
Accuracy: Exact, for NaN too, which equals nothing.
References: https://onnx.ai/onnx/operators/onnx__IsInf.html
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_type, rewrite

_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)


@rewrite(
    "IsInf",
    removes="op:IsInf dtype:IsInf.* attr:IsInf.*",
    emits="Abs Equal",
    since=11,
    claims="nan inf",
)
def is_inf_to_comparisons(node: NodeView, build: Builder) -> Value:
    """Compare with infinity, see the module."""
    x = node.need(0)
    need_type(x, _FLOATS)
    positive, negative = (
        bool(node.attr("detect_positive", 1)),
        bool(node.attr("detect_negative", 1)),
    )
    if not positive and not negative:
        raise Refuse("an infinity must be looked for; neither is")
    if positive and negative:
        return build.Equal(build.Abs(x), np.inf)
    return build.Equal(x, np.inf if positive else -np.inf)
