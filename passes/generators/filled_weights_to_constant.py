"""Write weights out that ConstantOfShape fills.

What it does: Weights of Conv and ConvTranspose that come from ConstantOfShape with a known shape
    become a constant. Folding leaves them alone because the file would grow.
Why engines need it: TensorRT before 8.5 takes the weights of a convolution from initializers only.
Before:
    w = ConstantOfShape <value = {0.5}> (constant {64, 3, 7, 7})
    y = Conv (x, w)
After: y = Conv (x, constant [64, 3, 7, 7] of 0.5)
When it refuses: No operand is filled, its shape is computed at run time, or it has more than
    `max_elements` elements.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__ConstantOfShape.html; onnx/onnx-tensorrt 8.2
    onnx2trt_utils.cpp, convMultiInput
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Option, Refuse, Value, rewrite


@rewrite(
    ("Conv", "ConvTranspose"),
    removes="const:Conv.* const:ConvTranspose.*",
    emits="Conv ConvTranspose",
    options={"max_elements": Option(int, 1 << 26, "Larger weights are refused.")},
)
def filled_weights_to_constant(node: NodeView, build: Builder) -> Value:
    """Fill the weights, see the module."""
    operands = [_filled(value, build) for value in node.inputs]
    if operands == list(node.inputs):
        raise Refuse("an operand must be filled with one value; none is")
    attributes = {name: node.attr(name) for name in node.attributes}
    return build.multi(node.op, *operands, outputs=1, **attributes)[0]


def _filled(value: Value | None, build: Builder) -> Value | None:
    made = None if value is None else value.producer
    if made is None or made.op != "ConstantOfShape" or made.domain:
        return value
    shape = build.need_const(made.need(0), "the shape of the weights")
    if np.prod(shape) > build.option("max_elements"):
        raise Refuse("the weights must have at most max_elements elements; they have more")
    fill = made.attr("value", np.zeros(1, np.float32))
    return build.constant(np.full([int(size) for size in shape], fill.reshape(-1)[0], fill.dtype))
