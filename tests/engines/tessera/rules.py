"""What Tessera does with nodes beyond what its profiles say."""

from __future__ import annotations

from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, rule
from graphfix.ir.views import NodeView


@rule(
    "Softmax",
    feature="attr:Softmax.axis",
    severity=WRONG,
    source="tessera/kernels/softmax.c: the axis is not read",
)
def softmax_axis_in_tessera(node: NodeView, target: Target) -> Answer:
    """Softmax is always over the last axis."""
    value = node.input(0)
    rank = None if value is None else value.rank
    return rank is not None and int(node.attr("axis", -1)) not in (-1, rank - 1)
