"""Replace Sign by two comparisons.

What it does: The sign is 1 where the number is above 0, less 1 where it is below.
Why engines need it: TensorRT has an importer for Sign from 8.2 on, and there for floating point
    numbers only in some versions.
Before: y = Sign (x)
After: y = Sub (Cast (Greater (x, 0)), Cast (Less (x, 0)))
When it refuses: The dtype is unknown.
Accuracy: Exact for all numbers, infinities and both zeros included. NaN gives 0, as C's comparisons
    do; ONNX says nothing of it.
References: https://onnx.ai/onnx/operators/onnx__Sign.html
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite(
    "Sign", removes="op:Sign dtype:Sign.* rank:Sign.*", emits="Cast Greater Less Sub", claims="inf"
)
def sign_to_comparisons(node: NodeView, build: Builder) -> Value:
    """Compare with 0 twice, see the module."""
    x = node.need(0)
    if x.dtype is None:
        raise Refuse(f"the dtype of {x.name} must be known")
    if x.dtype.kind == "u":
        return build.Cast(build.Greater(x, 0), to=x.elem_type)
    above, below = build.Greater(x, 0), build.Less(x, 0)
    if x.dtype.kind == "i" and x.dtype != np.dtype(np.int32):
        # Small integers are widened, so that the difference is one that every engine has.
        narrow = build.Sub(
            build.Cast(above, to=TensorProto.INT32), build.Cast(below, to=TensorProto.INT32)
        )
        return build.Cast(narrow, to=x.elem_type)
    return build.Sub(build.Cast(above, to=x.elem_type), build.Cast(below, to=x.elem_type))
