"""Choose between integers as int64.

What it does: Casts what Where chooses between to int64, and its result back.
Why engines need it: rknn-toolkit2 ends its process on Where of int32, "Meet unsupported tensor
    dtype", and refuses int8; it takes int64.
Before: y = Where (c, a, b)                  # a, b: int32
After: y = Cast <to = 6> (Where (c, Cast <to = 7> (a), Cast <to = 7> (b)))
When it refuses: The numbers are neither int8, int16 nor int32.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Where.html; measured in the simulator of
    rknn-toolkit2 2.3.2
"""

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Value, need_type, rewrite

_NARROW = (TensorProto.INT8, TensorProto.INT16, TensorProto.INT32)


@rewrite("Where", removes="dtype:Where.int32 dtype:Where.int8", emits="Cast Where", since=9)
def where_through_int64(node: NodeView, build: Builder) -> Value:
    """Cast, choose and cast back, see the module."""
    one, other = node.need(1), node.need(2)
    need_type(one, _NARROW)
    wide = [build.Cast(value, to=TensorProto.INT64) for value in (one, other)]
    return build.Cast(build.Where(node.need(0), *wide), to=one.elem_type)
