"""Replace Equal of types that its opset does not have by Less and Greater, or by wider integers.

What it does:
    Floats are equal where neither is less and neither is NaN, and every number is below 1 or above
    -1. Integers narrower than those that Equal takes are compared as int32 or int64.
Why engines need it: Until opset 10 Equal takes bool, int32 and int64. PyTorch up to 1.4 wrote it
    for floats all the same, and onnxruntime refuses such files: "Type 'tensor(float)' of input
    parameter (A) of operator (Equal) in node (...) is invalid".
Before: y = Equal (a, b)                   a, b: float32, opset 9
After:
    y = And (Not (Or (Less (a, b), Greater (a, b))),
             And (Or (Less (a, 1), Greater (a, -1)), Or (Less (b, 1), Greater (b, -1))))
When it refuses: The dtype is unknown, one that Equal takes, or one that no older operator compares
    (bfloat16, uint64, string).
Accuracy: Exact, for NaN, infinities and both zeros. It takes that the engine's comparisons follow
    IEEE 754, under which a comparison with NaN is false.
References: https://onnx.ai/onnx/operators/onnx__Equal.html; Equal-7 and -11, Less-7 in
    onnx/defs/logical/old.cc
"""

from functools import reduce

import numpy as np
from onnx import TensorProto

from graphfix.authoring import PREPARE, Builder, NodeView, Refuse, Value, need_type, rewrite

_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)
_TAKEN = (TensorProto.BOOL, TensorProto.INT32, TensorProto.INT64)
_HELD: dict[int, int] = {
    TensorProto.INT8: TensorProto.INT32,
    TensorProto.UINT8: TensorProto.INT32,
    TensorProto.INT16: TensorProto.INT32,
    TensorProto.UINT16: TensorProto.INT32,
    TensorProto.UINT32: TensorProto.INT64,
}


@rewrite(
    "Equal",
    removes="model:type-of-newer-opset.Equal",
    emits="And Cast Equal Greater Less Not Or",
    stage=PREPARE,
    since=7,
    until=10,
    claims="nan inf",
)
def equal_of_floats_to_comparisons(node: NodeView, build: Builder) -> Value:
    """Compare twice and leave NaN out, or widen, see the module."""
    a, b = node.need(0), node.need(1)
    known = a if a.elem_type else b
    if known.elem_type in _HELD:
        return build.Equal(*(build.Cast(x, to=_HELD[known.elem_type]) for x in (a, b)))
    if known.elem_type in _TAKEN:
        raise Refuse(
            f"the dtype must be one that Equal does not take; it takes {known.type_name} at "
            f"opset {node.opset}"
        )
    need_type(known, _FLOATS)
    same = build.Not(build.Or(build.Less(a, b), build.Greater(a, b)))
    doubtful = [x for x in (a, b) if _may_be_nan(x, build)]
    numbers = [build.Or(build.Less(x, 1), build.Greater(x, -1)) for x in doubtful]
    return build.And(same, reduce(build.And, numbers)) if numbers else same


def _may_be_nan(value: Value, build: Builder) -> bool:
    array = build.const(value)
    return array is None or bool(np.isnan(array).any())
