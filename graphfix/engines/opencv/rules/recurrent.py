"""LSTM and GRU."""

from __future__ import annotations

from graphfix.engines.operands import is_stored
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, rule
from graphfix.ir.views import NodeView


@rule(
    "LSTM",
    feature="form:LSTM.unset-input",
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
