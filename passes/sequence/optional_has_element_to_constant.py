"""Replace OptionalHasElement by its answer, where that is known.

What it does: OptionalHasElement of a tensor, of a sequence or of the output of Optional is
    true, and of nothing false.
Why engines need it: Engines of tensors have no optionals; onnxruntime has, from 1.10 on.
Before:
    o = Optional (x)
    y = OptionalHasElement (o)
After: y = true
When it refuses: The optional comes from outside, or from a body: whether it holds something is not
    known.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__OptionalHasElement.html
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Value, rewrite

from ._optional import held


@rewrite("OptionalHasElement", removes="op:OptionalHasElement", emits="")
def optional_has_element_to_constant(node: NodeView, build: Builder) -> Value:
    """Say whether there is something, see the module."""
    value = node.input(0)
    return build.constant(np.array(value is not None and held(value) is not None))
