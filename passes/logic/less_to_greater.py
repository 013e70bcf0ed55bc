"""Ask whether the second is greater instead of whether the first is less.

What it does: Swaps the operands of Less and writes Greater.
Why engines need it: MNN orders floats in Less by their bits, so that of two negative numbers the
    smaller one counts as the larger; it orders them rightly in Greater.
Before: y = Less (x, z)
After: y = Greater (z, x)
When it refuses: Never.
Accuracy: Exact: also for NaN, of which neither holds.
References: https://onnx.ai/onnx/operators/onnx__Less.html; measured on MNN 3.6.1
"""

from graphfix.authoring import Builder, NodeView, Value, rewrite


@rewrite("Less", removes="op:Less dtype:Less.*", emits="Greater", claims="nan inf")
def less_to_greater(node: NodeView, build: Builder) -> Value:
    """Swap the operands."""
    return build.Greater(node.need(1), node.need(0))
