"""QNN: what reads or writes at computed places, and is left to the CPU."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.qnn.rules.provider import LEFT, PROVIDER
from graphfix.engines.rule import REJECT, Answer, Yes, rule
from graphfix.ir.views import NodeView


@rule(
    "GatherND",
    feature="rank:GatherND.*",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, gather-nd",
)
def gathered_by_many_axes(node: NodeView, target: Target) -> Answer:
    """QNN supports GatherND indices of rank 2 to 4 only."""
    indices = node.input(1)
    if indices is None:
        return None
    if indices.rank is None:
        return Unknown(f"rank of {indices.name}")
    return indices.rank not in (2, 3, 4) and Yes(
        feature=f"rank:GatherND.{indices.rank}",
        message=f"QNN supports GatherND indices of rank 2 to 4; the rank is {indices.rank}",
    )


@rule(
    "GatherND",
    feature="dtype:GatherND.int64",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, gather-nd and gather-nd-inner",
)
def gathered_int64(node: NodeView, target: Target) -> Answer:
    """QNN does not support GatherND of an int64 graph input or to an int64 graph output."""
    x, y = node.input(0), node.output(0)
    if x is None or y is None or x.type_name != "int64":
        return None
    return y.is_graph_output or (x.producer is None and not x.is_constant)
