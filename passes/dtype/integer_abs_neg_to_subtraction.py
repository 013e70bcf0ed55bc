"""Write Abs, Neg and Relu of integers as subtraction and comparison.

What it does: Neg of integers becomes 0 - x; Abs chooses between that and x. Abs of unsigned
    integers is the operand itself. Relu, which takes integers from opset 14 on, chooses between the
    operand and zero.
Why engines need it: TensorRT 7 takes floats only for all three ("This version of TensorRT does not
    support the given operator with the given input data type."); TensorRT 8 refuses uint8.
Before: y = Abs (x)          # x: int32
After: y = Where (Less (x, 0), Sub (0, x), x)
When it refuses: The operand is no integer, or, for Abs, the opset is below 9, where integers are
    not compared.
Accuracy: Exact; the smallest integer stays itself, as in onnxruntime.
References: https://onnx.ai/onnx/operators/onnx__Abs.html, onnx__Neg.html; onnx2trt_utils.cpp of
    onnx-tensorrt, release 7.1, unaryHelper
"""

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Value, need_type, rewrite

_SIGNED = (TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64)
_UNSIGNED = (TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64)


def _features(*ops: str) -> tuple[str, ...]:
    return tuple(f"dtype:{op}.{name}" for op in ops for name in ("int32", "int64", "uint8"))


@rewrite(("Abs", "Neg"), removes=_features("Abs", "Neg"), emits="Less Sub Where")
def integer_abs_neg_to_subtraction(node: NodeView, build: Builder) -> Value:
    """Subtract from zero, see the module."""
    x = node.need(0)
    if node.op == "Abs" and x.elem_type in _UNSIGNED:
        return x
    need_type(x, _SIGNED)
    dtype = x.dtype
    assert dtype is not None
    zero = build.constant(dtype.type(0))
    negative = build.Sub(zero, x)
    if node.op == "Neg":
        return negative
    return build.Where(build.Less(x, zero), negative, x)


@rewrite("Relu", removes=_features("Relu"), emits="Less Where", since=14)
def integer_relu_to_where(node: NodeView, build: Builder) -> Value:
    """Choose zero where the operand is below it, see the module."""
    x = node.need(0)
    need_type(x, _SIGNED)
    assert x.dtype is not None
    zero = build.constant(x.dtype.type(0))
    return build.Where(build.Less(x, zero), zero, x)
