"""Nodes of the file that repairs are to leave alone."""

from __future__ import annotations

from msgspec import Struct

from graphfix.ir.views import NodeView
from graphfix.report import NodeRef

# Scope, operator and outputs of a node.
NodeKey = tuple[str, str, tuple[str, ...]]


def node_key(node: NodeRef) -> NodeKey:
    """Return what a node of the file is known by while a model is worked on."""
    return (node.scope, node.op, node.outputs)


class Spared(Struct, frozen=True):
    """Which nodes are left alone; what stands for a node of the file counts as that node.

    Attributes:
        only: The nodes that may be repaired; None for all.
        excepted: Those that may not.
    """

    only: frozenset[NodeKey] | None = None
    excepted: frozenset[NodeKey] = frozenset()

    def __call__(self, view: NodeView) -> bool:
        """Say whether a node is left alone."""
        return bool(self.option(view.node.origin or view.ref()))

    def option(self, node: NodeRef) -> str:
        """Return the option that leaves a node of the file alone; empty for none."""
        key = node_key(node)
        if key in self.excepted:
            return "--except"
        return "--only" if self.only is not None and key not in self.only else ""
