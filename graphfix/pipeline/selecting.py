"""The nodes that the user limits repairs to, found in the file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphfix.authoring.spared_nodes import NodeKey, Spared, node_key
from graphfix.errors import UsageError
from graphfix.ir.addressing import select
from graphfix.ir.graph import Node
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView
from graphfix.report import NodeRef


def spared_nodes(model: Model, only: Sequence[str], excepted: Sequence[str]) -> Spared:
    """Return which nodes of a model repairs leave alone.

    Args:
        model: The model as it is in the file.
        only: Names, patterns, ``op:Mod``, ``index:12`` of what may be repaired; empty for all.
        excepted: The same of what may not.

    Raises:
        UsageError: A name finds no node, or one of a function or a call, which are inlined.
    """
    nodes = list(model.nodes())
    refs = [NodeView(node).ref() for node in nodes]
    inlined = [_is_inlined(model, node, ref) for node, ref in zip(nodes, refs, strict=True)]

    def keys(addresses: Iterable[str], option: str) -> frozenset[NodeKey]:
        found: set[NodeKey] = set()
        for address in addresses:
            where = f"{option} {address}"
            for place in select(refs, address, where):
                if inlined[place]:
                    raise UsageError(
                        f"{refs[place].op} {refs[place].name!r} is of a function or calls one, "
                        "which gives way to its nodes",
                        where=where,
                        hint="inline first: graphfix run MODEL --passes inline-functions",
                    )
                found.add(node_key(refs[place]))
        return frozenset(found)

    return Spared(keys(only, "--only") if only else None, keys(excepted, "--except"))


def named_there(model: Model, addresses: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return which of some addresses name nodes of a model, and which name none."""
    refs = [NodeView(node).ref() for node in model.nodes()]
    there: list[str] = []
    absent: list[str] = []
    for address in addresses:
        try:
            select(refs, address, "")
        except UsageError:
            absent.append(address)
        else:
            there.append(address)
    return there, absent


def _is_inlined(model: Model, node: Node, ref: NodeRef) -> bool:
    called = (node.domain or "", node.op, node.overload) in model.graph.known_functions
    return called or ref.scope.startswith("function:")
