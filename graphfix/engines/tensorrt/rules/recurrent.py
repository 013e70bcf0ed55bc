"""LSTM, GRU and RNN."""

from __future__ import annotations

from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView

_OPS = ("LSTM", "GRU", "RNN")
_COUNT = {"LSTM": 3, "GRU": 2, "RNN": 1}


@rule(
    _OPS,
    feature="form:RNN.layout",
    versions="trt7.0..trt10.10",
    severity=WRONG,
    source="builtin_op_importers.cpp:2466-2600 (8.6.1): layout is never read",
)
def rnn_layout(node: NodeView, target: Target) -> Answer:
    """TensorRT ignores layout=1 of {op} and swaps batch and sequence."""
    return bool(node.attr("layout", 0)) and Yes(feature=f"form:{node.op}.layout")


@rule(
    _OPS,
    feature="form:RNN.layout",
    versions="trt10.15..",
    severity=REJECT,
    source="operators.md (10.15): layout must be 0",
)
def rnn_layout_refused(node: NodeView, target: Target) -> Answer:
    """TensorRT supports {op} with layout=0 only."""
    return bool(node.attr("layout", 0)) and Yes(feature=f"form:{node.op}.layout")


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


@rule(
    _OPS,
    feature="attr:RNN.hidden_size",
    versions="trt7.0..",
    severity=REJECT,
    text="Attribute not found: hidden_size",
    source="builtin_op_importers.cpp:1802, 2476, 3993 (8.6.1), onnxOpImporters.cpp:2237, 2987, "
    "4737 (10.1)",
)
def rnn_hidden_size(node: NodeView, target: Target) -> Answer:
    """TensorRT requires the attribute hidden_size of {op}; ONNX does not."""
    return "hidden_size" not in node.node.attrs and Yes(feature=f"attr:{node.op}.hidden_size")


@rule(
    "LSTM",
    feature="attr:LSTM.input_forget",
    versions="trt7.0..",
    severity=REJECT,
    text='Assertion failed: inputForget == 0 && "Coupled input/forget is unsupported in the LSTM '
    'converter"',
    source="builtin_op_importers.cpp:2476 (8.6.1)",
)
def lstm_input_forget(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support input_forget=1 of LSTM."""
    return bool(node.attr("input_forget", 0))


@rule(
    _OPS,
    feature="rank:RNN.initial_h",
    versions="trt7.0..",
    severity=REJECT,
    text="dimensions not compatible for matrix multiplication: number of batch dimensions differ",
    source="builtin_op_importers.cpp:2560-2600 (8.6.1)",
)
def rnn_state_rank(node: NodeView, target: Target) -> Answer:
    """TensorRT requires an initial state of rank 3 of {op}."""
    state = node.input(5)
    return (
        state is not None
        and state.rank not in (None, 3)
        and Yes(feature=f"rank:{node.op}.initial_h")
    )
