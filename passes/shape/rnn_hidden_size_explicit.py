"""Write the size of the hidden state down that ONNX lets out.

What it does: Adds `hidden_size` to RNN, GRU and LSTM: the last size of the weights of the
    recurrence.
Why engines need it: TensorRT refuses the node without it: "Attribute not found: hidden_size".
Before: y, h = GRU (x, w, r)
After: y, h = GRU <hidden_size = 5> (x, w, r)
When it refuses: The attribute is there, or the size of the weights is unknown.
Accuracy: Exact: the size is that of the weights.
References: https://onnx.ai/onnx/operators/onnx__GRU.html; onnx/onnx-tensorrt 8.6.1
    builtin_op_importers.cpp:1802, 2476, 3993
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite

OPS = ("GRU", "LSTM", "RNN")


@rewrite(OPS, removes=tuple(f"attr:{op}.hidden_size" for op in OPS), emits=OPS)
def rnn_hidden_size_explicit(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Rewrite one recurrent node."""
    if node.has("hidden_size"):
        raise Refuse("the size must be left out; it is explicit")
    size = node.need(2).dim(2) if node.need(2).rank == 3 else None
    if size is None:
        raise Refuse(f"the last size of {node.need(2).name} must be known")
    return respell(node, build, hidden_size=size)
