"""Where a pattern nearly matches, and what is there instead."""

from __future__ import annotations

from msgspec import Struct

from graphfix.authoring.declaring import Pass
from graphfix.authoring.patterns.match import Unmatched
from graphfix.errors import UsageError
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView
from graphfix.report import NodeRef


class NearMiss(Struct, frozen=True):
    """A node whose operator may end a pattern, and why the pattern does not end there.

    Attributes:
        node: The node.
        reason: What is at the place that is furthest inside of the pattern.
        depth: How many nodes of the pattern were found.
    """

    node: NodeRef
    reason: str
    depth: int

    @property
    def at(self) -> str:
        """What the node is called: its name, or that of its first output."""
        return self.node.name or next(iter(self.node.outputs), "")


def near_misses(model: Model, declared: Pass) -> list[NearMiss]:
    """Return the places at which the pattern of a pass does not match, the nearest first.

    Args:
        model: The model, with its types inferred.
        declared: The pass.

    Raises:
        UsageError: The pass has no pattern.
    """
    if declared.pattern is None:
        raise UsageError("has no pattern", where=declared.id)
    found: list[NearMiss] = []
    for node in model.nodes():
        view = NodeView(node)
        if declared.matches_node(view):
            try:
                declared.pattern.match(view)
            except Unmatched as miss:
                found.append(NearMiss(view.ref(), miss.reason, miss.depth))
    return sorted(found, key=lambda miss: -miss.depth)
