"""RKNN: recurrences whose outputs are read in part, and their layout."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.operands import only_reader
from graphfix.engines.profile import Target
from graphfix.engines.rknn.rules.toolkit import TOOLKIT
from graphfix.engines.rule import REJECT, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value

_GRAPHS = f"{TOOLKIT}: facts/graphs.json"
_HIDDEN, _CELL = 5, 6  # inputs
_ALIGNED = 4  # sequences
_SHAPING = frozenset({"Reshape", "Squeeze"})


@rule(
    ("GRU", "LSTM", "RNN"),
    feature="form:{op}.outputs",
    severity=REJECT,
    text="allocation_planner.cc:224",
    source=f"{_GRAPHS}; read together with what is computed before it, an output is right, and so"
    " is the last hidden state of LSTM alone",
)
def outputs_in_part(node: NodeView, target: Target) -> Answer:
    """RKNN requires the outputs of {op} before one that is read to be named and read too."""
    given = list(node.outputs)
    read = [value is not None and value.is_used for value in given]
    last = max((place for place, is_read in enumerate(read) if is_read), default=0)
    missing = [place for place, value in enumerate(given[:last]) if value is None]
    if missing:
        return Yes(message=f"RKNN requires output {missing[0]} of {node.op} to have a name")
    before = 1 if node.op == "LSTM" else 0  # the output that has to be read
    if last <= before or read[before]:
        return False
    return Yes(message=f"RKNN requires output {before} of {node.op} to be read as output {last} is")


@rule(
    ("GRU", "LSTM", "RNN"),
    feature="form:{op}.layout",
    severity=REJECT,
    text="Unrecognized attribute: layout for operator {op}; layout_ == 0 was false",
    source=f"{_GRAPHS}; that of 0 is refused where Squeeze or Reshape reads the result of GRU or"
    " LSTM, a Transpose before it or not, and nothing else does",
)
def written_layout(node: NodeView, target: Target) -> Answer:
    """RKNN does not support layout=1 of {op}, nor layout=0 before Squeeze or Reshape."""
    if node.attr("layout", 0):
        return True
    result = node.output(0)
    if node.op == "RNN" or result is None or not node.has("layout"):
        return False
    return _is_reshaped(result) and Yes(feature=f"attr:{node.op}.layout=0")


@rule(
    "LSTM",
    feature="form:LSTM.unset-input",
    severity=REJECT,
    text="LSTM: Not support batch_size(3) unaligned to 4",
    source=f"{_GRAPHS}: it ends the process; batches of 1 and 4, both states, none, and a hidden"
    " state alone are taken",
)
def cell_state_alone(node: NodeView, target: Target) -> Answer:
    """RKNN supports LSTM with initial_c but no initial_h for batches of a multiple of 4 only."""
    x, cell = node.input(0), node.input(_CELL)
    if x is None or cell is None or node.input(_HIDDEN) is not None:
        return False
    batch = x.dim(1)
    if not isinstance(batch, int):
        return Unknown(f"sizes of {x.name}")
    return batch > 1 and bool(batch % _ALIGNED)


def _is_reshaped(value: Value) -> bool:
    reader = only_reader(value)
    while reader is not None and reader.op == "Identity":
        reader = only_reader(reader.output(0))
    if reader is not None and reader.op == "Transpose":
        reader = only_reader(reader.output(0))
    if reader is None or reader.op not in _SHAPING:
        return False
    return reader.op == "Reshape" or reader.has("axes") or reader.input(1) is not None
