"""LSTM, GRU and RNN."""

from __future__ import annotations

from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, Yes, rule
from graphfix.ir.views import NodeView

_OPS = ("LSTM", "GRU", "RNN")
_COUNT = {"LSTM": 3, "GRU": 2, "RNN": 1}


@rule(
    _OPS,
    feature="attr:RNN.activations",
    versions="trt7.0..",
    severity=REJECT,
    text='"The parser does not currently support cases where activations for the reverse pass of '
    'the {op} do not match the forward pass."',
    source="builtin_op_importers.cpp:2480-2510 (8.6.1)",
)
def rnn_activations(node: NodeView, target: Target) -> Answer:
    """TensorRT requires equal activations in both directions of {op}."""
    if node.attr("direction", "forward") != "bidirectional":
        return None
    found, count = node.attr("activations", []), _COUNT[node.op]
    return found[:count] != found[count:] and Yes(feature=f"attr:{node.op}.activations")
