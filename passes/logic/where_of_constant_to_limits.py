"""Choose by a constant mask between numbers and constants by limiting them.

What it does: Where a constant mask chooses between computed numbers and a constant, the numbers are
    limited from below and from above: by minus and plus infinity where they stay, and by the
    constant on both sides where it takes their place.
Why engines need it: OpenCV 4 reads no constants of bools: "Unsupported data type: BOOL in function
    'getMatFromTensor'". ncnn has no Where, and pnnx no layer for one with a constant: "layer
    torch.where not exists or registered". Masks of attention are such constants.
Before: y = Where (mask, x, k)       with mask and k constants
After:
    l = Max (x, low)
    y = Min (l, high)
When it refuses: The mask is no constant; neither choice is a constant, or both are; the numbers are
    no floats.
Accuracy: Exact for numbers and infinities. NaN where the constant is chosen stays NaN, so it is not
    claimed.
References: https://onnx.ai/onnx/operators/onnx__Where.html, onnx__Max.html, onnx__Min.html
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_elem_type, rewrite

_FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16)


@rewrite("Where", removes="op:Where dtype:Where.bool", emits="Max Min", claims="inf")
def where_of_constant_to_limits(node: NodeView, build: Builder) -> Value:
    """Limit the numbers, see the module."""
    mask = build.need_const(node.need(0), "the mask")
    chosen, other = node.need(1), node.need(2)
    need_elem_type(chosen)
    if chosen.elem_type not in _FLOATS:
        raise Refuse(f"{chosen.name} must be floats; it is {chosen.type_name}")
    kept, constant = mask, build.const(other)
    if constant is None:
        kept, chosen, constant = ~mask, other, build.const(chosen)
    if constant is None or build.const(chosen) is not None:
        raise Refuse("one choice must be a constant and the other not; both or none are")
    infinity = constant.dtype.type(np.inf)
    if np.isnan(constant).any():
        raise Refuse("the constant must be numbers; it holds NaN")
    low = np.where(kept, -infinity, constant).astype(constant.dtype)
    high = np.where(kept, infinity, constant).astype(constant.dtype)
    return build.Min(build.Max(chosen, low), high)
