"""Replace OptionalGetElement by the value that the optional is known to hold.

What it does: OptionalGetElement of a tensor or sequence, or of the output of Optional, is
    that value.
Why engines need it: Engines of tensors have no optionals; onnxruntime has, from 1.10 on.
Before:
    o = Optional (x)
    y = OptionalGetElement (o)
After: y = Identity (x)
When it refuses: The optional comes from outside, or from a body: whether it holds something is not
    known. Or it is made empty.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__OptionalGetElement.html
"""

from graphfix.authoring import Builder, NodeView, Value, needed, rewrite

from ._optional import held


@rewrite("OptionalGetElement", removes="op:OptionalGetElement", emits="")
def optional_get_element_to_value(node: NodeView, build: Builder) -> Value:
    """Take what is there, see the module."""
    return needed(held(node.need(0)), "the optional must hold something; it is made empty")
