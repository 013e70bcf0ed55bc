"""Nodes and tensors of a proto as users name them, see `graphfix.ir.addressing`.

Tensors are named as nodes are, and what a node computes by the node.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from onnx import FunctionProto, GraphProto, ModelProto, NodeProto

from graphfix.errors import UsageError
from graphfix.ir.addressing import is_pattern, listed, select, unknown
from graphfix.ir.protos import all_graphs, called, subgraphs_of
from graphfix.report import NodeRef


@dataclass(frozen=True, slots=True)
class Place:
    """A node, and where it is.

    Attributes:
        node: The node, of the model that was asked for.
        index: Its place among the nodes of its graph.
        graph: The graph, body or function.
        root: The main graph or the function.
    """

    node: NodeProto
    index: int
    graph: GraphProto | FunctionProto
    root: GraphProto | FunctionProto

    @property
    def text(self) -> str:
        """The node as a sentence names it."""
        return called(self.node.op_type, self.node.name, self.node.output)


def roots(proto: ModelProto) -> Iterator[GraphProto | FunctionProto]:
    """Walk the main graph and the local functions."""
    yield proto.graph
    yield from proto.functions


def graphs_of(root: GraphProto | FunctionProto) -> Iterator[GraphProto | FunctionProto]:
    """Walk a main graph or a function, and every body below it."""
    if isinstance(root, GraphProto):
        yield from all_graphs(root)
        return
    yield root
    for node in root.node:
        for body in subgraphs_of(node):
            yield from all_graphs(body)


def places(proto: ModelProto) -> Iterator[Place]:
    """Walk every node: those of the main graph first, then subgraphs, then functions."""
    for root in roots(proto):
        for graph in graphs_of(root):
            for index, node in enumerate(graph.node):
                yield Place(node, index, graph, root)


def find_nodes(proto: ModelProto, address: str, where: str) -> list[Place]:
    """Return the nodes that an address names, at least one.

    Raises:
        UsageError: None is named so; the nearest names are reported.
    """
    known = list(places(proto))
    refs = [
        NodeRef(
            place.node.name,
            place.index,
            place.node.op_type,
            place.node.domain,
            tuple(place.node.output),
            "main" if place.graph is proto.graph else "",
        )
        for place in known
    ]
    return [known[i] for i in select(refs, address, where)]


def find_node(proto: ModelProto, address: str, where: str) -> Place:
    """Return the one node that an address names.

    Raises:
        UsageError: None is named so, or several are.
    """
    found = find_nodes(proto, address, where)
    _one([place.text for place in found], "nodes", address, where)
    return found[0]


def main_place(proto: ModelProto, address: str, where: str) -> int:
    """Return the place in the main graph of the node that an address names, or of what it is in.

    Raises:
        UsageError: None is named so, several are, or it is in a function.
    """
    found = find_node(proto, address, where)
    if not isinstance(found.root, GraphProto):
        raise UsageError(f"{found.text} is in a function", where=where)
    if found.graph is found.root:
        return found.index
    return next(
        at
        for at, node in enumerate(proto.graph.node)
        if any(graph is found.graph for body in subgraphs_of(node) for graph in all_graphs(body))
    )


def find_tensors(proto: ModelProto, address: str, where: str) -> list[str]:
    """Return the tensors of the main graph that an address names, at least one.

    Raises:
        UsageError: None is named so; the nearest names are reported.
    """
    names = tensors_of(proto.graph)
    if address in names:
        return [address]
    if address.startswith(("op:", "index:")):
        nodes = [p.node for p in find_nodes(proto, address, where) if p.graph is proto.graph]
        return [name for node in nodes for name in node.output if name]
    found = [name for name in names if fnmatchcase(name, address)] if is_pattern(address) else []
    if not found:
        raise unknown("tensor", address, names, where)
    return found


def find_tensor(proto: ModelProto, address: str, where: str) -> str:
    """Return the one tensor of the main graph that an address names.

    Raises:
        UsageError: None is named so, or several are.
    """
    found = find_tensors(proto, address, where)
    _one(found, "tensors", address, where)
    return found[0]


def tensors_of(graph: GraphProto | FunctionProto) -> dict[str, None]:
    """Return the names that a graph or function defines itself, in order."""
    if isinstance(graph, FunctionProto):
        found = dict.fromkeys(graph.input)
    else:
        found = dict.fromkeys(info.name for info in graph.input)
        found.update((tensor.name, None) for tensor in graph.initializer)
        found.update((sparse.values.name, None) for sparse in graph.sparse_initializer)
    found.update((name, None) for node in graph.node for name in node.output if name)
    return found


def all_tensors_of(proto: ModelProto) -> set[str]:
    """Return the names that the main graph and the subgraphs in it define."""
    return {name for graph in graphs_of(proto.graph) for name in tensors_of(graph)}


def free_name(wish: str, taken: Container[str]) -> str:
    """Return a name that is not taken: the one that is wished for, or that with a number."""
    name, number = wish, 2
    while name in taken:
        name, number = f"{wish}_{number}", number + 1
    return name


def matching(names: Iterable[str], address: str, kind: str, where: str) -> list[str]:
    """Return the names that an address is or matches, at least one.

    Raises:
        UsageError: There is none; the nearest are reported.
    """
    known = list(names)
    found = [address] if address in known else []
    if not found and is_pattern(address):
        found = [name for name in known if fnmatchcase(name, address)]
    if not found:
        raise unknown(kind, address, known, where)
    return found


def _one(found: Sequence[str], kind: str, address: str, where: str) -> None:
    if len(found) > 1:
        hint = f"one is needed: {listed(found)}"
        raise UsageError(f"{address!r} names {len(found)} {kind}", where=where, hint=hint)
