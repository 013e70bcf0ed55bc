"""Write the sizes that a Reshape infers or keeps as numbers.

What it does: Replaces -1 and 0 in a constant shape by the sizes of the result, where all of them
    are known or declared.
Why engines need it: TVM forgets the sizes after a Slice whose bounds are computed, and infers none
    then.
Before: y = Reshape (x, [-1, 4])                      # x: float[2,8]
After: y = Reshape (x, [4, 4])
When it refuses: The shape is computed, or a size of the result is not known; there is nothing to
    infer.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Reshape.html; measured on apache-tvm 0.27.0.post1
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite


@rewrite("Reshape", removes="shape:Reshape.inferred", emits="Reshape", since=5, claims="nan inf")
def reshape_in_numbers(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Give numbers, see the module."""
    shape, result = build.need_const(node.need(1), "the shape"), node.output(0)
    if (shape > 0).all():
        raise Refuse("a size must be inferred or kept; none is")
    sizes = None if result is None else result.static_shape
    if sizes is None:
        raise Refuse("the sizes of the result must be known; they are not")
    if 0 in sizes:
        raise Refuse("the result must have elements; it has none")
    return respell(node, build, shape=np.array(sizes, np.int64))
