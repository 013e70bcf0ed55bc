"""Cast bytes to float32 through int32.

What it does: Casts uint8 to int32 first, and that to float32.
Why engines need it: QNN casts uint8 to float32 as if it were bool: what is not 0 becomes 1.
Before: y = Cast <to = 1> (x)                      # x: uint8
After: y = Cast <to = 1> (Cast <to = 6> (x))
When it refuses: The input is not uint8, or the result not float32.
Accuracy: Exact: int32 and float32 have all numbers of uint8.
References: https://onnx.ai/onnx/operators/onnx__Cast.html; measured with onnxruntime-qnn 2.7.0
"""

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_type, rewrite


@rewrite("Cast", removes="form:Cast.uint8-to-float32", emits="Cast")
def bytes_to_floats_through_int32(node: NodeView, build: Builder) -> Value:
    """Cast twice, see the module."""
    x = node.need(0)
    need_type(x, (TensorProto.UINT8,))
    if node.attr("to") != TensorProto.FLOAT:
        raise Refuse(f"the result must be float32; it is of element type {node.attr('to')}")
    return build.Cast(build.Cast(x, to=TensorProto.INT32), to=TensorProto.FLOAT)
