"""Make bools of numbers by comparing them with zero.

What it does: Writes a Cast of numbers to bools as Not of Equal to zero.
Why engines need it: OpenCV 4 computes all in float32 and leaves numbers alone that are cast: what
    comes next sees 2.5 where ONNX says true, which is 1. MNN keeps the number, and And computes
    with its bits.
Before: b = Cast <to = 9> (x)
After:
    e = Equal (x, zero)
    b = Not (e)
When it refuses: The result is no bool; the input is no float32, float64, float16, int32 or int64;
    the opset does not compare floats, which came with 11.
Accuracy: Exact: NaN is true, and so is an infinity.
References: https://onnx.ai/onnx/operators/onnx__Cast.html, onnx__Equal.html
"""

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_elem_type, rewrite

_FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16)
_INTEGERS = (TensorProto.INT32, TensorProto.INT64)


@rewrite("Cast", removes="form:Cast.to-bool", emits="Equal Not", claims="nan inf")
def cast_to_bool_by_equal(node: NodeView, build: Builder) -> Value:
    """Compare with zero, see the module."""
    x = node.need(0)
    if node.attr("to") != TensorProto.BOOL:
        raise Refuse(
            f"the result must be bool; it is {TensorProto.DataType.Name(node.attr('to')).lower()}"
        )
    need_elem_type(x)
    if x.elem_type not in (*_FLOATS, *_INTEGERS):
        raise Refuse(f"{x.name} must be floats, int32 or int64; it is {x.type_name}")
    if x.elem_type in _FLOATS and build.opset < 11:
        raise Refuse(f"the opset must be at least 11 to compare floats; it is {build.opset}")
    return build.Not(build.Equal(x, 0))
