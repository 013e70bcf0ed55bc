"""MNN: the cells of recurrent networks."""

from __future__ import annotations

from graphfix.engines.mnn.rules.wheel import WHEEL
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, rule
from graphfix.ir.views import NodeView

_OUTPUTS = 3


@rule(
    "LSTM",
    feature="form:LSTM.unnamed-output",
    severity=REJECT,
    source=f"{WHEEL}: SIGSEGV, SIGBUS or SIGABRT, whatever its sizes, directions and states are;"
    " with names for Y, Y_h and Y_c it is right, and so are GRU and RNN without",
)
def output_without_name(node: NodeView, target: Target) -> Answer:
    """MNN crashes on LSTM if one of its three outputs has no name."""
    return any(node.output(place) is None for place in range(_OUTPUTS))
