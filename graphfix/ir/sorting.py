"""The order of nodes: whether each comes after what it uses, and making it so."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from graphfix.errors import InvalidModel
from graphfix.ir.graph import Graph, Node, Tensor


def first_misplaced(graph: Graph) -> Node | None:
    """Return the first node that is before a node of its graph that it needs."""
    later = {id(t) for node in graph.nodes for t in node.outputs if t.name}
    nodes: list[Node] = graph.nodes
    for node in nodes:
        if not later.isdisjoint(map(id, _used(node))):
            return node
        later.difference_update(map(id, node.outputs))
    return None


def _used(node: Node) -> list[Tensor]:
    if not node.attrs.own:
        return node.inputs
    used: list[Tensor] = list(node.inputs)
    for _, body in node.graphs():
        for inner in body.walk():
            used.extend(inner.outputs)
            for inner_node in inner.nodes:
                used.extend(inner_node.inputs)
    return used


def sort_graph(graph: Graph) -> None:
    """Sort the nodes of one scope in place; see `sorted_nodes`."""
    graph.nodes = sorted_nodes(graph)


def sorted_nodes(graph: Graph) -> list[Node]:
    """Return the nodes of one scope in order; of those that are ready the first goes first.

    Raises:
        InvalidModel: The nodes form a cycle.
    """
    makers = {id(t): i for i, node in enumerate(graph.nodes) for t in node.outputs if t.name}
    waiting: list[int] = []
    followers: dict[int, list[int]] = {}
    for index, node in enumerate(graph.nodes):
        needs = {makers[id(t)] for t in _used(node) if id(t) in makers} - {index}
        if any(makers.get(id(t)) == index for t in node.inputs):
            raise _cycle(graph, node)
        waiting.append(len(needs))
        for need in needs:
            followers.setdefault(need, []).append(index)
    ready = [index for index, count in enumerate(waiting) if count == 0]
    heapify(ready)
    order: list[int] = []
    while ready:
        index = heappop(ready)
        order.append(index)
        for follower in followers.get(index, ()):
            waiting[follower] -= 1
            if waiting[follower] == 0:
                heappush(ready, follower)
    if len(order) != len(graph.nodes):
        stuck = next(i for i, count in enumerate(waiting) if count > 0)
        raise _cycle(graph, graph.nodes[stuck])
    return [graph.nodes[index] for index in order]


def _cycle(graph: Graph, node: Node) -> InvalidModel:
    return InvalidModel(
        f"the nodes form a cycle through {node.op} {node.name!r}",
        where=graph.scope,
        hint="the file was edited wrongly; export it again",
    )
