"""Attributes that refer to attributes of a function: the values that the calls give them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace
from onnx import AttributeProto, FunctionProto, ModelProto, NodeProto

from graphfix.authoring.evidence import Evidence
from graphfix.ir.protos import FunctionKey, all_nodes, function_key, functions_of, subgraphs_of

Given = Mapping[str, AttributeProto]

# A function that is called in more ways than this is proved for the first of them.
MOST_WAYS = 3


def call_bindings(model: ModelProto) -> dict[FunctionKey, list[Given]]:
    """Return, for each local function, the sets of attributes that it is called with.

    Calls that pass on an attribute of their own function are bound by the calls of that one.
    """
    functions = functions_of(model)
    ways: dict[FunctionKey, dict[bytes, Given]] = {key: {} for key in functions}
    pending: list[tuple[NodeProto, Given]] = [(n, {}) for n in all_nodes(model.graph.node)]
    while pending:
        node, given = pending.pop(0)
        key = function_key(node.domain, node.op_type, node.overload)
        function = functions.get(key)
        if function is None or len(ways[key]) >= MOST_WAYS:
            continue
        way = _way(function, bound(node, given))
        mark = b"".join(way[name].SerializeToString(deterministic=True) for name in sorted(way))
        if mark not in ways[key]:
            ways[key][mark] = way
            pending.extend((inner, way) for inner in all_nodes(function.node))
    return {key: list(found.values()) for key, found in ways.items()}


def _refers(nodes: Iterable[NodeProto]) -> bool:
    """Say whether an attribute refers to an attribute of a function."""
    return any(a.ref_attr_name for node in all_nodes(nodes) for a in node.attribute)


def bound(node: NodeProto, given: Given) -> NodeProto:
    """Return a copy with values in the place of references; what a call leaves out is left out."""
    fresh = NodeProto()
    fresh.CopyFrom(node)
    del fresh.attribute[:]
    for attribute in node.attribute:
        value = given.get(attribute.ref_attr_name) if attribute.ref_attr_name else attribute
        if value is None:
            continue
        copy = fresh.attribute.add()
        copy.CopyFrom(value)
        copy.name = attribute.name
    for body in subgraphs_of(fresh):
        nodes = [bound(inner, given) for inner in body.node]
        del body.node[:]
        body.node.extend(nodes)
    return fresh


def instantiate(evidence: Evidence, ways: Iterable[Given]) -> list[Evidence]:
    """Return the evidence of a site once for each way in which its function is called.

    A site that refers to no attribute of its function is the same in all of them.
    """
    if not _refers((*evidence.before, *evidence.after, *evidence.context)):
        return [evidence]
    return [
        replace(
            evidence,
            before=[bound(node, given) for node in evidence.before],
            after=[bound(node, given) for node in evidence.after],
            context=[bound(node, given) for node in evidence.context],
        )
        for given in ways
    ]


def _way(function: FunctionProto, call: NodeProto) -> Given:
    way = {attribute.name: attribute for attribute in function.attribute_proto}
    way.update((attribute.name, attribute) for attribute in call.attribute)
    return way
