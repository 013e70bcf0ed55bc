"""Replace Xor by And, Or and Not.

What it does: One of the two, and not both.
Why engines need it: TensorRT has Xor from 8.5 on.
Before: y = Xor (a, b)
After: y = And (Or (a, b), Not (And (a, b)))
When it refuses: Never.
Accuracy: Exact: booleans.
References: https://onnx.ai/onnx/operators/onnx__Xor.html
"""

from graphfix.authoring import Builder, NodeView, Value, rewrite


@rewrite("Xor", removes="op:Xor", emits="And Not Or")
def xor_to_and(node: NodeView, build: Builder) -> Value:
    """Combine, see the module."""
    a, b = node.need(0), node.need(1)
    return build.And(build.Or(a, b), build.Not(build.And(a, b)))
