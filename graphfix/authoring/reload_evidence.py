"""Evidence for passes that make the whole file again: which nodes took the place of which."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from graphfix.authoring.evidence import Evidence, tensors_read
from graphfix.ir.graph import Graph, Node, is_empty

Pair = tuple[Node, Graph]


def successors(old: Graph, fresh: Graph, wanted: Collection[int]) -> Iterator[Pair]:
    """Find the scopes of `fresh` in which some nodes of `old` are computed now.

    Args:
        old: A scope before.
        fresh: The same scope in the new file, where all tensors that were kept bear their names.
        wanted: The ids of the nodes that gave way.

    Yields:
        Each of these nodes, and the scope that its outputs are made in now.
    """
    pending = [(old, fresh)]
    while pending:
        before, after = pending.pop()
        makers = {tensor.name: node for node in after.nodes for tensor in node.outputs}
        for node in before.nodes:
            if id(node) in wanted:
                yield node, after
                continue
            heir = next((makers[t.name] for t in node.outputs if t.name in makers), None)
            if heir is not None:
                subgraphs = (dict(n.graphs()) for n in (node, heir))
                mine, others = subgraphs
                pending.extend((mine[key], others[key]) for key in mine if key in others)


def finish_reloaded(evidence: Evidence, node: Node, fresh: Graph) -> bool:
    """Take down what computes the outputs of a node now; False where an output is gone.

    Args:
        evidence: What was taken down of the node before.
        node: The node.
        fresh: The scope that its outputs are made in now.
    """
    makers = {tensor.name: maker for maker in fresh.nodes for tensor in maker.outputs}
    tensors = {tensor.name: tensor for maker in fresh.nodes for tensor in maker.outputs}
    for tensor in node.outputs:
        if is_empty(tensor):
            continue
        if tensor.name in tensors:
            evidence.replace(tensor, tensors[tensor.name])
        elif tensor.outputs or tensor.output_count:
            return False
    read = {tensor.name for tensor in tensors_read(node)}
    found: dict[int, Node] = {}
    pending = [result.after for result in evidence.results]
    while pending:
        maker = makers.get(pending.pop())
        if maker is None or id(maker) in found:
            continue
        found[id(maker)] = maker
        pending.extend(t.name for t in tensors_read(maker) if t.name not in read)
    evidence.finish([maker for maker in fresh.nodes if id(maker) in found])
    return True
