"""Take the larger or smaller of numbers in four dimensions instead of five.

What it does: Joins the first two dimensions of all operands by a Reshape, and parts them again
    behind Max or Min. Operands of one number stay as they are.
Why engines need it: QNN leaves Max and Min of floats of five dimensions to the CPU.
Before: y = Max (x, 0.5)                               # x: [2, 3, 4, 5, 6]
After: y = Reshape (Max (Reshape (x, {6, 4, 5, 6}), 0.5), {2, 3, 4, 5, 6})
When it refuses: There are not five dimensions, or a size is open or 0; an operand is repeated along
    an axis.
Accuracy: Exact: each number is computed alone.
References: https://onnx.ai/onnx/operators/onnx__Max.html; measured with onnxruntime-qnn 2.7.0
"""

import math

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_RANK = 5


@rewrite(
    ("Max", "Min"),
    removes="rank:Max.5 rank:Min.5",
    emits="Max Min Reshape",
    since=8,
    claims="nan inf",
)
def larger_of_four_dimensions(node: NodeView, build: Builder) -> Value:
    """Join two dimensions, see the module."""
    result = node.output(0)
    sizes = None if result is None else result.static_shape
    if sizes is None or 0 in sizes:
        raise Refuse("the sizes must be known and none of them 0")
    if len(sizes) != _RANK:
        raise Refuse(f"there must be {_RANK} dimensions; there are {len(sizes)}")
    joined = [sizes[0] * sizes[1], *sizes[2:]]
    given: list[Value] = []
    for place in range(len(node.inputs)):
        value = node.need(place)
        shape = value.static_shape
        if shape == sizes:
            given.append(build.Reshape(value, joined))
        elif shape is not None and math.prod(shape) == 1:
            given.append(value if len(shape) < _RANK else build.Reshape(value, [1]))
        else:
            raise Refuse(f"{value.name} must be one number or of the shape of the result")
    return build.Reshape(build.node(node.op, *given), list(sizes))
