"""Names that an edit changed, though it did not declare that it renames anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from onnx import FunctionProto, GraphProto, ModelProto

from graphfix.edits.addressing import graphs_of, roots
from graphfix.edits.step import SameStructure
from graphfix.ir.protos import called, normal_domain

Names = tuple[str, ...]


def renamings(claim: SameStructure) -> list[str]:
    """Return the places of the second model whose names the first one does not have there.

    A node of the one model is a node of the other where operator, name, inputs and outputs are the
    same (of one that the claim excepts: name and outputs), in whatever order nodes are; so names
    that two nodes exchange count. What the claim declares to be renamed is left out of this. Of
    inputs, outputs and stored tensors the names count.
    """
    there = Counter(names for names, _ in _places(claim.before, claim))
    new: list[str] = []
    for names, text in _places(claim.after, claim):
        there[names] -= 1
        if there[names] < 0:
            new.append(text)
    return new


def _places(proto: ModelProto, claim: SameStructure) -> Iterator[tuple[Names, str]]:
    """Walk what bears names that count, each with the sentence that says so."""
    nodes, tensors = "nodes" not in claim.renamed, "tensors" not in claim.renamed
    if not nodes and not tensors:
        return
    for root in roots(proto):
        for graph in graphs_of(root):
            for kind, name in _ends(graph) if tensors else ():
                if name not in claim.but:
                    yield (kind, name), f"the name of {kind} {name!r}"
            for node in graph.node:
                names: Names = (node.name,) if nodes else ()
                if tensors:
                    names += tuple(node.output)
                if claim.but.isdisjoint(node.output[:1]):
                    names += (normal_domain(node.domain), node.op_type)
                    names += tuple(node.input) if tensors else ()
                text = called(node.op_type, node.name, node.output)
                yield ("node", *names), f"names at {text}"


def _ends(graph: GraphProto | FunctionProto) -> Iterator[tuple[str, str]]:
    for kind, ends in (("input", graph.input), ("output", graph.output)):
        for end in ends:
            yield kind, end if isinstance(end, str) else end.name
    if isinstance(graph, GraphProto):
        yield from (("stored tensor", tensor.name) for tensor in graph.initializer)
        yield from (("stored tensor", each.values.name) for each in graph.sparse_initializer)
