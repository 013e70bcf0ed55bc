"""Leave out the activations of LSTM, GRU and RNN that they have anyway.

What it does: Drops the attribute where it names what ONNX says for a node that has none.
Why engines need it: QNN leaves LSTM and GRU that name their activations to the CPU, whatever they
    are.
Before: y = LSTM <activations = ["Sigmoid", "Tanh", "Tanh"], hidden_size = 5> (x, w, r)
After: y = LSTM <hidden_size = 5> (x, w, r)
When it refuses: No activations are named, or others.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__LSTM.html; measured with onnxruntime-qnn 2.7.0
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite

from ._activations import plain_activations

_OPS = ("GRU", "LSTM", "RNN")


@rewrite(_OPS, removes=tuple(f"attr:{op}.activations" for op in _OPS), emits=_OPS, claims="nan inf")
def recurrent_activations_left_out(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Drop the attribute, see the module."""
    if not node.has("activations"):
        raise Refuse("activations must be named; none are")
    if not plain_activations(node):
        raise Refuse("the activations must be those of ONNX; others are named")
    return respell(node, build, drop=("activations",))
