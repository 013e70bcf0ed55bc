"""RKNN: Gathers that are taken for one, or follow each other."""

from __future__ import annotations

from collections.abc import Iterator

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rknn.rules.toolkit import TOOLKIT
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value

_MOST = 5  # dimensions


@rule(
    "Gather",
    feature="form:Gather.shared-indices",
    severity=WRONG,
    text="Type Error: Type parameter (T) of Optype ({op}) bound to different types",
    source=f"{TOOLKIT}: facts/graphs.json; where their types differ it is refused, by chance."
    " GatherElements, GatherND, and tensors that are both computed are right",
)
def second_gather_of_indices(node: NodeView, target: Target) -> Answer:
    """RKNN merges Gathers that share indices; both then read the same tensor."""
    indices = node.need(1)
    if known_with_sizes(indices):
        return False
    for other in _readers(_origin(indices)):
        if other.op != "Gather" or other.domain or other.node is node.node:
            continue
        if _origin(other.need(1)) != _origin(indices) or _alike(node, other):
            continue
        if known_with_sizes(node.need(0)) or known_with_sizes(other.need(0)):
            return True
    return False


@rule(
    "Gather",
    feature="rank:Gather.6",
    severity=REJECT,
    source=f"{TOOLKIT}: facts/graphs.json; it ends the process, or its own Gather is out of bounds;"
    " of five dimensions it is taken, and alone. Where two read the first it was taken, and was not"
    " where two such meet",
)
def gather_of_a_gather(node: NodeView, target: Target) -> Answer:
    """RKNN does not support a Gather of a Gather from more than five dimensions."""
    data, result = node.need(0), node.output(0)
    if result is None or known_with_sizes(data):
        return False
    if not any(user.op == "Gather" and user.input(0) == result for user in result.consumers):
        return False
    if data.rank is None:
        return Unknown(f"rank of {data.name}")
    if data.rank <= _MOST:
        return False
    if len(result.consumers) > 1:
        return Unknown("how Gathers are joined")
    return Yes(feature=f"rank:Gather.{data.rank}")


def _alike(one: NodeView, two: NodeView) -> bool:
    return one.need(0) == two.need(0) and one.attr("axis", 0) == two.attr("axis", 0)


def _origin(value: Value) -> Value:
    while (maker := value.producer) is not None and maker.op == "Identity" and not maker.domain:
        value = maker.need(0)
    return value


def _readers(value: Value) -> Iterator[NodeView]:
    """Yield what reads a tensor, be it through copies."""
    for user in value.consumers:
        result = user.output(0)
        if user.op == "Identity" and not user.domain and result is not None:
            yield from _readers(result)
        else:
            yield user
