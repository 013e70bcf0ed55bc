"""Replace IsNaN by two comparisons that every number passes one of.

What it does: Every number is below 1 or above -1; NaN is neither.
Why engines need it: TensorRT has an importer for IsNaN from 8.4 on.
Before: y = IsNaN (x)
After: y = Not (Or (Greater (1, x), Greater (x, -1)))
When it refuses: The dtype is not a floating point type that this opset compares.
Accuracy: Exact, infinities included. It takes that the engine's comparisons follow IEEE 754, under
    which a comparison with NaN is false; MNN's Less does not (it compares bits), Greater does.
References: https://onnx.ai/onnx/operators/onnx__IsNaN.html
"""

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Value, need_type, rewrite

_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)


@rewrite("IsNaN", removes="op:IsNaN dtype:IsNaN.*", emits="Greater Not Or", since=9)
def is_nan_to_comparisons(node: NodeView, build: Builder) -> Value:
    """Compare twice, see the module."""
    x = node.need(0)
    need_type(x, _FLOATS)
    return build.Not(build.Or(build.Greater(1, x), build.Greater(x, -1)))
