"""The scopes of a graph that an engine looks into."""

from __future__ import annotations

from collections.abc import Iterator

from graphfix.engines.engine import Engine
from graphfix.engines.isolation import Failed, hook_result
from graphfix.ir.graph import Graph


def read_graphs(
    engine: Engine, root: Graph, faults: list[tuple[str, Failed]] | None = None
) -> Iterator[Graph]:
    """Walk the scopes of a graph that an engine looks into.

    Args:
        engine: The engine.
        root: The main graph or a local function.
        faults: Takes what `Engine.reads` raised; the scope is looked into then.
    """
    noted = [] if faults is None else faults

    def reads(graph: Graph) -> bool:
        return hook_result(lambda: engine.reads(graph), True, "reads", noted)

    pending: list[Iterator[Graph]] = [iter((root,))]
    while pending:
        graph = next(pending[-1], None)
        if graph is None:
            pending.pop()
        elif graph.parent is None or reads(graph):
            yield graph
            pending.append(graph.subgraphs())
