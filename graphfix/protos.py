"""Walking through protos: the bodies of a node, and what stands in them at any depth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from onnx import AttributeProto, GraphProto, NodeProto


def bodies_of(node: NodeProto) -> Iterator[GraphProto]:
    """Yield the bodies of a node."""
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.g
        yield from attribute.graphs


def all_nodes(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """Yield nodes, each followed by those of the bodies inside it."""
    for node in nodes:
        yield node
        for body in bodies_of(node):
            yield from all_nodes(body.node)


def all_graphs(graph: GraphProto) -> Iterator[GraphProto]:
    """Yield a graph and every body below it."""
    pending = [graph]
    while pending:
        graph = pending.pop()
        yield graph
        for node in graph.node:
            pending.extend(bodies_of(node))
