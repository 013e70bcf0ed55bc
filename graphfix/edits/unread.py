"""What nothing reads any more, once nodes were replaced."""

from __future__ import annotations

from onnx import GraphProto, ModelProto, ValueInfoProto

from graphfix.edits.addressing import graphs_of
from graphfix.ir.protos import all_graphs, copied, names_read


def drop_unread(proto: ModelProto, spent: set[str]) -> None:
    """Take nodes and stored tensors out that nothing reads: those named, and what only they read.

    Args:
        proto: The model, changed in place.
        spent: What the nodes compute, and what is stored.
    """
    spent = set(spent)
    for graph in reversed(list(all_graphs(proto.graph))):  # what is inside comes first
        nodes, outputs = list(graph.node), {info.name for info in graph.output}
        while True:
            unread = spent - outputs - {name for node in nodes for name in names_read(node)}
            kept = [node for node in nodes if not node.output or not set(node.output) <= unread]
            if len(kept) == len(nodes):
                break
            spent.update(n for node in nodes if node.output[0] in unread for n in node.input)
            nodes = kept
        if len(nodes) != len(graph.node):
            made = [copied(node) for node in nodes]
            graph.ClearField("node")
            graph.node.extend(made)
    drop(proto.graph, spent - names_read_in(proto.graph))


def names_read_in(graph: GraphProto) -> set[str]:
    """Return what nodes read, here and inside, and what outputs are."""
    return {
        name
        for body in graphs_of(graph)
        for name in (
            *(name for node in body.node for name in node.input),
            *(info.name for info in body.output if isinstance(info, ValueInfoProto)),
        )
    }


def drop(graph: GraphProto, names: set[str]) -> None:
    """Take stored tensors out of a graph and those inside."""
    for body in all_graphs(graph):
        kept = [copied(tensor) for tensor in body.initializer if tensor.name not in names]
        if len(kept) != len(body.initializer):
            body.ClearField("initializer")
            body.initializer.extend(kept)
        for node in [n for n in body.node if n.op_type == "Constant" and n.output[0] in names]:
            body.node.remove(node)
