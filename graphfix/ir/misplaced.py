"""Nodes that lie outside of the subgraph whose tensors they read, as float16 converters leave them.

They put the Cast of a tensor of a subgraph into the main graph, where nothing defines it
(microsoft/onnxconverter-common#260: "it should be inside the sub-graph"). Such a Cast is moved into
the subgraphs that define what it reads and read what it writes, if that accounts for all readers.
"""

from __future__ import annotations

from onnx import GraphProto, ModelProto, NodeProto

from graphfix.ir.protos import copied, normal_domain, subgraphs_of


def placed_in_subgraphs(model: ModelProto) -> tuple[ModelProto, tuple[str, ...]] | None:
    """Return a model whose misplaced Casts are where they belong; None where that is not plain.

    Args:
        model: A model in which a node reads what nothing defines.

    Returns:
        A copy, and what each Cast that was moved writes.
    """
    fresh = copied(model)
    found = _placed(fresh.graph, frozenset())
    return (fresh, tuple(dict.fromkeys(found))) if found else None


def _placed(graph: GraphProto, outer: frozenset[str]) -> list[str] | None:
    """Move the misplaced Casts of a graph and its subgraphs; None where one stays."""
    known = outer | _defined(graph)
    moved: list[str] = []
    lost: list[NodeProto] = []
    kept: list[NodeProto] = []
    for node in graph.node:
        (kept if known.issuperset(filter(None, node.input)) else lost).append(node)
    subgraphs = [body for node in kept for body in subgraphs_of(node)]
    at_home = {name for node in kept for name in node.input} | {o.name for o in graph.output}
    for node in _once(lost):
        if node.op_type != "Cast" or normal_domain(node.domain) or node.output[0] in at_home:
            return None
        if not _takes(subgraphs, node):
            return None
        moved.append(node.output[0])
    if lost:
        rest = [copied(node) for node in kept]
        del graph.node[:]
        graph.node.extend(rest)
        known = outer | _defined(graph)
    for body in (body for node in graph.node for body in subgraphs_of(node)):
        inner = _placed(body, known)
        if inner is None:
            return None
        moved += inner
    return moved


def _takes(subgraphs: list[GraphProto], node: NodeProto) -> bool:
    """Put a node into each body that defines what it reads and reads what it writes.

    Says whether every reader has it then, and there is one.
    """
    name, given = node.input[0], node.output[0]
    taken = False
    for body in subgraphs:
        if not _reads(body, given):
            continue
        if given in _defined(body):
            return False
        if name in _defined(body):
            places = [p for p, inner in enumerate(body.node) if name in inner.output]
            body.node.insert(max(places, default=-1) + 1, node)
        else:
            further = [inner for each in body.node for inner in subgraphs_of(each)]
            if _reads_itself(body, given) or not _takes(further, node):
                return False
        taken = True
    return taken


def _once(nodes: list[NodeProto]) -> list[NodeProto]:
    """Return nodes, each that is there again left out: one Cast is made for each branch."""
    seen = {node.SerializeToString(deterministic=True): node for node in reversed(nodes)}
    return list(reversed(seen.values()))


def _defined(graph: GraphProto) -> frozenset[str]:
    stored = {tensor.name for tensor in graph.initializer}
    stored |= {tensor.values.name for tensor in graph.sparse_initializer}
    computed = {name for node in graph.node for name in node.output}
    return frozenset(stored | computed | {info.name for info in graph.input})


def _reads_itself(graph: GraphProto, name: str) -> bool:
    return any(name in node.input for node in graph.node) or any(
        info.name == name for info in graph.output
    )


def _reads(graph: GraphProto, name: str) -> bool:
    return _reads_itself(graph, name) or any(
        _reads(body, name) for node in graph.node for body in subgraphs_of(node)
    )
