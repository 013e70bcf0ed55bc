"""Write PRelu and LeakyRelu as a choice where an engine does not compute their type.

What it does: Below 0 the input times the slope, else the input.
Why engines need it: TensorRT takes PRelu of floats alone ("Found invalid input type of INT32"), and
    onnxruntime 1.10 has PRelu and LeakyRelu of float32 alone.
Before: y = PRelu (x, slope)              # int32
After: y = Where (Less (x, 0), Mul (x, slope), x)
When it refuses: The type is not known, or is none of int32, int64, float32 and float64; a LeakyRelu
    is of integers.
Accuracy: Exact: it is what the operators are defined to be; integers wrap around as before.
References: https://onnx.ai/onnx/operators/onnx__PRelu.html, onnx__LeakyRelu.html;
    builtin_op_importers.cpp:3440 of onnx-tensorrt, release 8.6; onnxruntime 1.10.0, measured
"""

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Value, need_type, rewrite

_INTEGERS = (TensorProto.INT32, TensorProto.INT64)
_FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE)
_REFUSED = ("int32", "int64", "float64")
_LEAST = 0.01  # the slope of a LeakyRelu that names none


@rewrite(
    ("LeakyRelu", "PRelu"),
    removes=(*(f"dtype:PRelu.{name}" for name in _REFUSED), "dtype:LeakyRelu.float64"),
    emits="Less Mul Where",
    since=9,
)
def slope_to_where(node: NodeView, build: Builder) -> Value:
    """Choose by the sign, see the module."""
    x = node.need(0)
    if node.op == "LeakyRelu":
        need_type(x, _FLOATS)
        slope: Value | float = float(node.attr("alpha", _LEAST))
    else:
        need_type(x, (*_INTEGERS, *_FLOATS))
        slope = node.need(1)
    return build.Where(build.Less(x, 0), build.Mul(x, slope), x)
