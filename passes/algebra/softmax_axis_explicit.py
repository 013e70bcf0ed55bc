"""Write down the axis of a Softmax or LogSoftmax that leaves it out.

What it does: Adds `axis` as ONNX means it: 1 before opset 13, the last axis from there on.
Why engines need it: MNN takes the last axis for Softmax whatever the opset, and ends the process
    for LogSoftmax.
Before: opset 11: y = Softmax (x)
After: opset 11: y = Softmax <axis = 1> (x)
When it refuses: Never; it leaves alone what has an axis.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Softmax.html; measured on MNN 3.6.1
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite(
    ("LogSoftmax", "Softmax"),
    removes="form:LogSoftmax.no-axis form:Softmax.no-axis",
    emits="LogSoftmax Softmax",
)
def softmax_axis_explicit(node: NodeView, build: Builder) -> Value:
    """Add the attribute."""
    if node.has("axis"):
        raise Refuse("the axis must be left out; it is written")
    axis = 1 if node.opset < 13 else -1
    return build.multi(node.op, node.need(0), outputs=1, axis=axis)[0]
