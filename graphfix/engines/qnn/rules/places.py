"""QNN: what reads or writes at computed places, and is left to the CPU."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.folded_early import is_folded
from graphfix.engines.profile import Target
from graphfix.engines.qnn.rules.provider import LEFT, PROVIDER
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView

_FIVE = 5
_TABLES = (2, 3)  # ranks of what is taken along the first axis


@rule(
    "GatherND",
    feature="rank:GatherND.*",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, gather-nd",
)
def gathered_by_many_axes(node: NodeView, target: Target) -> Answer:
    """QNN supports GatherND by indices of rank 2 to 4, from and to four dimensions only."""
    data, indices, result = node.input(0), node.input(1), node.output(0)
    if data is None or indices is None or result is None:
        return None
    if indices.rank is None:
        return Unknown(f"rank of {indices.name}")
    if indices.rank not in (2, 3, 4):
        return Yes(
            feature=f"rank:GatherND.{indices.rank}",
            message=f"QNN supports GatherND indices of rank 2 to 4; the rank is {indices.rank}",
        )
    most = max(data.rank or 0, result.rank or 0)
    return most >= _FIVE and Yes(
        feature=f"rank:GatherND.{most}",
        message=f"QNN supports GatherND of up to four dimensions; {most} are gathered from or to",
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


@rule(
    "Gather",
    feature="rank:Gather.5",
    severity=WRONG,
    source="measured with onnxruntime-qnn 2.7.0: floats end the run, others come from other places",
)
def gathered_to_five_axes(node: NodeView, target: Target) -> Answer:
    """QNN computes a Gather to five dimensions right only where the first of them is 1."""
    x, indices = node.input(0), node.input(1)
    if x is None or indices is None or is_folded(node.need(0)):
        return None
    if x.rank is None or indices.rank is None:
        return Unknown(f"ranks of {x.name} and {indices.name}")
    if x.rank + indices.rank != _FIVE + 1:
        return False
    axis = int(node.attr("axis", 0)) % x.rank
    if axis == 0 and x.rank not in _TABLES:
        return True
    first = indices.dim(0) if axis == 0 else x.dim(0)
    return Unknown(f"sizes of {x.name} and {indices.name}") if first is None else first != 1


@rule(
    "Slice",
    feature="shape:Slice.empty",
    severity=REJECT,
    text=LEFT,
    source=PROVIDER,
)
def sliced_to_nothing(node: NodeView, target: Target) -> Answer:
    """QNN does not support a Slice without elements."""
    result = node.output(0)
    return result is not None and 0 in (result.shape or ()) and not is_folded(result)
