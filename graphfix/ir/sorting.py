"""The order of nodes: whether each comes after what it uses, and making it so."""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
    needs: list[set[int]] = []
    for index, node in enumerate(graph.nodes):
        needs.append({makers[id(t)] for t in _used(node) if id(t) in makers} - {index})
        if any(makers.get(id(t)) == index for t in node.inputs):
            raise _cycle(graph, node)
    order = in_order(needs)
    if len(order) != len(graph.nodes):
        done = set(order)
        stuck = next(index for index in range(len(graph.nodes)) if index not in done)
        raise _cycle(graph, graph.nodes[stuck])
    return [graph.nodes[index] for index in order]


def in_order(needs: Sequence[Collection[int]]) -> list[int]:
    """Return places so that each comes after those it needs; of those ready the least is first.

    Args:
        needs: For each place those that it needs. What is in a cycle or after one is left out.
    """
    waiting = [len(each) for each in needs]
    followers: dict[int, list[int]] = {}
    for index, each in enumerate(needs):
        for need in each:
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
    return order


def _cycle(graph: Graph, node: Node) -> InvalidModel:
    return InvalidModel(
        f"the nodes form a cycle through {node.op} {node.name!r}",
        where=graph.scope,
        hint="the file was edited wrongly; export it again",
    )
