"""LSTM and GRU."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.operands import is_stored
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, rule
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


@rule(
    "GRU",
    feature="form:GRU.unset-input",
    versions="opencv5.0..",
    severity=REJECT,
    text="(-2:Unspecified error)",
    source="gru_layer.cpp:538 (5.0.0); measured on 5.0.0: without initial_h a batch of 1 is right,"
    " one of 2 is refused",
)
def gru_state(node: NodeView, target: Target) -> Answer:
    """OpenCV 5 requires an initial state of GRU for more than one item in the batch."""
    if node.input(5) is not None:
        return False
    data = node.need(0)
    batch = data.dim(0 if node.attr("layout", 0) else 1)
    return Unknown(f"sizes of {data.name}") if batch is None else batch != 1


@rule(
    "GRU",
    feature="form:GRU.unnamed-output",
    versions="opencv5.0..",
    severity=WRONG,
    source="measured on 5.0.0: one and both directions, batches of 1 and 2; with both outputs, and"
    " with Y_h alone, it is right",
)
def gru_output_without_name(node: NodeView, target: Target) -> Answer:
    """OpenCV 5 returns the last state of GRU for all states where Y_h has no name."""
    return node.output(0) is not None and node.output(1) is None
