"""LSTM and GRU."""

from __future__ import annotations

from graphfix.engines.operands import is_stored
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, rule
from graphfix.ir.views import NodeView


@rule(
    "LSTM",
    feature="form:LSTM.unset-input",
    versions="opencv",
    severity=REJECT,
    text="Required inputs: X, W, R, B, seqLen, h0, c0",
    source="recurrent2_layers.cpp:283 (5.0.0), recurrent_layers.cpp:285 (4.10.0); measured",
)
def lstm_states(node: NodeView, target: Target) -> Answer:
    """OpenCV requires LSTM to have both initial states and a bias, or no initial state."""
    states = [node.input(index) for index in (5, 6)]
    if target.version >= (5,):
        # Names that are written and empty count as given.
        return len(node.inputs) > 5 and None in (*states, node.input(3))
    return None in states and any(state is not None and not is_stored(state) for state in states)


@rule(
    ("LSTM", "GRU"),
    feature="form:{op}.sequence-lens",
    versions="opencv",
    severity=REJECT,
    source="recurrent2_layers.cpp:283 (5.0.0); measured",
)
def sequence_lengths(node: NodeView, target: Target) -> Answer:
    """OpenCV does not support sequence_lens of {op}."""
    return node.input(4) is not None


@rule(
    "GRU",
    feature="attr:GRU.direction=reverse",
    versions="opencv",
    severity=WRONG,
    source="measured on 5.0.0: test_gru_reverse of onnx",
)
def gru_reverse(node: NodeView, target: Target) -> Answer:
    """OpenCV ignores direction=reverse of GRU and runs it forward."""
    return bool(node.attr("direction", "forward") == "reverse")


@rule(
    "LSTM",
    feature="attr:LSTM.direction=reverse",
    versions="opencv",
    severity=WRONG,
    source="measured on 4.8.1, 4.10.0 and 5.0.0: the last state of a reverse LSTM alone is wrong",
)
def lstm_reverse_state(node: NodeView, target: Target) -> Answer:
    """OpenCV returns wrong final states for LSTM with direction=reverse."""
    if node.attr("direction", "forward") != "reverse":
        return False
    return any(value is not None and value.is_used for value in node.outputs[1:])


@rule(
    "GRU",
    feature="form:GRU.unset-input",
    versions="..opencv4.10",
    severity=REJECT,
    text="node_proto.input_size() == 6 in function 'parseGRU'",
    source="onnx_importer.cpp:1726 (4.10.0); measured",
)
def gru_inputs(node: NodeView, target: Target) -> Answer:
    """OpenCV requires constant B and initial_h of GRU, and supports its first output only."""
    given = [node.input(index) for index in (1, 2, 3, 5)]
    if any(value is None or not is_stored(value) for value in given):
        return True
    last = node.output(1)
    return last is not None and (last.is_used or last.is_graph_output)
