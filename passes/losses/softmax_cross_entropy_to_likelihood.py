"""Write SoftmaxCrossEntropyLoss as the likelihood of the logarithm of Softmax.

What it does: Takes LogSoftmax over the classes, which is the second output, and its
    NegativeLogLikelihoodLoss.
Why engines need it: No version of TensorRT has the operator.
Before: y, p = SoftmaxCrossEntropyLoss (scores, labels, weights)
After:
    p = LogSoftmax <axis = 1> (scores)
    y = NegativeLogLikelihoodLoss (p, labels, weights)
When it refuses: The opset is 12: LogSoftmax joins axes there.
Accuracy: Exact up to the order of summation.
References: https://onnx.ai/onnx/operators/onnx__SoftmaxCrossEntropyLoss.html; operators.md of
    onnx-tensorrt, release 8.6
"""

from graphfix.authoring import Builder, NodeView, Value, rewrite


@rewrite(
    "SoftmaxCrossEntropyLoss",
    removes="op:SoftmaxCrossEntropyLoss",
    emits="LogSoftmax NegativeLogLikelihoodLoss",
    since=13,
)
def softmax_cross_entropy_to_likelihood(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Take both steps, see the module."""
    chances = build.LogSoftmax(node.need(0), axis=1)
    operands = [value for value in node.inputs[1:] if value is not None]
    attributes = {name: node.attr(name) for name in node.attributes}
    loss = build.NegativeLogLikelihoodLoss(chances, *operands, **attributes)
    return (loss, chances)[: len(node.outputs)]
