"""The activations of LSTM, GRU and RNN.

References: https://onnx.ai/onnx/operators/onnx__LSTM.html
"""

from graphfix.authoring import NodeView

_PLAIN = {"LSTM": ["sigmoid", "tanh", "tanh"], "GRU": ["sigmoid", "tanh"], "RNN": ["tanh"]}


def plain_activations(node: NodeView) -> bool:
    """Say whether the activations that a node names are those that it has without."""
    named = [str(name).lower() for name in node.attr("activations")]
    once = _PLAIN[node.op]
    return named in (once, once * 2)
