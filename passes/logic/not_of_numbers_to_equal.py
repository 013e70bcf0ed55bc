"""Replace Not of numbers by a comparison with zero.

What it does: Not of a tensor that is not bool becomes Equal with 0; below opset 11, where Equal
    takes no floating point numbers, those are cast to bool first.
Why engines need it: ONNX has Not for bool only, but PyTorch's exporter writes it on numbers for
    logical_not and all. Engines look at the type and refuse.
Before: y = Not (x)                        x: float
After: y = Equal (x, 0)
When it refuses: The dtype is unknown, or bool already.
Accuracy:
    Exact in the meaning of PyTorch, from which such files come: true where the number is 0,
    -0.0 included; false for NaN and infinities.
References: pytorch/pytorch aten/src/ATen/native/UnaryOps.cpp (logical_not);
    https://onnx.ai/onnx/operators/onnx__Not.html
"""

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_elem_type, rewrite

_FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16)
_INTEGERS = (
    TensorProto.INT8,
    TensorProto.INT16,
    TensorProto.INT32,
    TensorProto.INT64,
    TensorProto.UINT8,
    TensorProto.UINT16,
    TensorProto.UINT32,
    TensorProto.UINT64,
)


@rewrite("Not", removes="dtype:Not.* model:element-type", emits="Cast Equal Not")
def not_of_numbers_to_equal(node: NodeView, build: Builder) -> Value:
    """Compare with zero, see the module."""
    x = node.need(0)
    need_elem_type(x)
    if x.elem_type not in (*_FLOATS, *_INTEGERS):
        raise Refuse(f"{x.name} must be a number; it is {x.type_name}")
    if x.elem_type == TensorProto.BFLOAT16 and build.opset < 13:
        raise Refuse(f"the opset must be at least 13 to compare bfloat16; it is {build.opset}")
    plain = x.elem_type in (TensorProto.INT32, TensorProto.INT64)
    if build.opset >= 11 or plain:
        return build.Equal(x, 0)
    return build.Not(build.Cast(x, to=TensorProto.BOOL))
