"""Fewer nodes inside the subgraphs of If, Loop and Scan, where these have to stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from onnx import GraphProto, ModelProto

from graphfix.difference.scopes import Scope, subgraphs_of
from graphfix.ir.protos import with_graph
from graphfix.reduction.oracle import Oracle
from graphfix.reduction.search import shortened
from graphfix.reduction.tensor_types import Types, declaration

# The way to a body: node and number of the body, from the main graph inwards.
Way = tuple[tuple[int, int], ...]


def thinner_subgraphs(proto: ModelProto, oracle: Oracle) -> ModelProto:
    """Return the model with as few nodes in its subgraphs as were found to fail.

    What a body reads of a node that is gone becomes an input of the model, captured by the body;
    an output of the body that is gone is copied from such an input. The outermost subgraphs come
    first: what is gone with them need not be looked at.
    """
    best = proto
    done: set[Way] = set()
    while True:
        way = next(
            (w for w, body in _subgraphs(best.graph, ()) if w not in done and body.node), None
        )
        if way is None:
            return best
        done.add(way)
        best = _thinned(best, way, oracle.typist.types(best), oracle)


def _thinned(proto: ModelProto, way: Way, types: Types, oracle: Oracle) -> ModelProto:
    order = Scope.of_graph(_at(proto.graph, way), "main").order
    count = len(order)

    def candidate(kept: Collection[int]) -> ModelProto | None:
        return _without(proto, way, set(range(count)) - set(kept), types)

    if count > 1 and oracle.accepts(candidate(())):
        left: list[int] = []
    else:
        left = shortened(order, lambda kept: oracle.accepts(candidate(kept)))
    found = candidate(left) if len(left) < count else None
    return found if found is not None and oracle.accepts(found) else proto


def _subgraphs(graph: GraphProto, way: Way) -> Iterator[tuple[Way, GraphProto]]:
    """Walk all subgraphs, the outermost first."""
    inner = [
        ((*way, (index, number)), body)
        for index, node in enumerate(graph.node)
        for number, (_, body) in enumerate(subgraphs_of(node))
    ]
    yield from inner
    for further, body in inner:
        yield from _subgraphs(body, further)


def _at(graph: GraphProto, way: Way) -> GraphProto:
    for index, number in way:
        graph = list(subgraphs_of(graph.node[index]))[number][1]
    return graph


def _without(proto: ModelProto, way: Way, gone: Collection[int], types: Types) -> ModelProto | None:
    """Return a copy without some nodes of one body; None where that makes it no smaller."""
    fresh = ModelProto()
    fresh.CopyFrom(proto)
    body = _at(fresh.graph, way)
    scope = Scope.of_graph(body, "main")
    made = {name for index in gone for name in body.node[index].output if name}
    kept = [node for index, node in enumerate(body.node) if index not in gone]
    read = {
        name: None
        for index in range(len(scope.nodes))
        if index not in gone
        for name in (*scope.nodes[index].input, *scope.captures.get(index, ()))
        if name in made
    }
    results = [info.name for info in body.output if info.name in made]
    if len(dict.fromkeys(results)) >= len(gone):
        return None
    defined = _definitions(fresh.graph)
    for name in dict.fromkeys((*results, *read)):
        fed = name
        if name in results or defined[name] > 1:
            fed = f"{name}_fed"
            while fed in defined:
                fed += "_"
            kept.insert(0, body.node.add(op_type="Identity", input=[fed], output=[name]))
        defined[fed] += 1
        info = declaration(fed, None, {fed: types[name]} if name in types else {})
        fresh.graph.input.append(info)
    copies = [type(node).FromString(node.SerializeToString()) for node in kept]
    del body.node[:]
    body.node.extend(copies)
    infos = [info for info in body.value_info if info.name not in made]
    del body.value_info[:]
    body.value_info.extend(infos)
    return with_graph(fresh, fresh.graph)


def _definitions(graph: GraphProto) -> Counter[str]:
    """Count how many graphs define each name."""
    found = Counter(info.name for info in graph.input)
    found.update(tensor.name for tensor in graph.initializer)
    found.update(name for node in graph.node for name in node.output if name)
    for _, body in _subgraphs(graph, ()):
        found.update(info.name for info in body.input)
        found.update(tensor.name for tensor in body.initializer)
        found.update(name for node in body.node for name in node.output if name)
    return found
