"""Tensors of subgraphs that share a name with one elsewhere: distinguished for ONNX's inference.

Two branches of an If may name what they compute alike, as those of a decoder merged from two files
do, and a file may declare such a name in its main graph as well. ONNX's inference keeps what it
computes of shapes by name alone, for all subgraphs of a graph together, and takes what is declared
around a body for what is declared of a tensor in it (onnx/shape_inference/implementation.cc, onnx
1.23): the shape that one branch computes is read in the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from onnx import FunctionProto, GraphProto, ModelProto, NodeProto

from graphfix.ir.protos import subgraphs_of

# How a node with a body is written: field 4 of NodeProto, its length, the operator.
_WITH_SUBGRAPHS = (b"\x22\x02If", b"\x22\x04Loop", b"\x22\x04Scan", b"\x22\x0bSequenceMap")


def may_have_subgraphs(raw: bytes) -> bool:
    """Say whether a written model may have a node with a body that inference looks into."""
    return any(mark in raw for mark in _WITH_SUBGRAPHS)


def put_apart(model: ModelProto) -> dict[str, str]:
    """Rename, in place, what subgraphs define under a name that is used in another scope as well.

    Names of the main graph and of functions stay, and so do those that occur in one scope alone.

    Returns:
        The old name of each new one; empty where nothing was renamed.
    """
    old: dict[str, str] = {}
    for root in _roots(model):
        shared, taken = _shared(root)
        if shared:
            _rename_subgraphs(root.node, _fresh(shared, taken, old))
    return old


def restored(model: ModelProto, old: Mapping[str, str]) -> None:
    """Give tensors of subgraphs their names back, in place; `old` is what `put_apart` returned."""
    if not old:
        return
    for root in _roots(model):
        _rename_subgraphs(root.node, lambda name: old.get(name, name))


def _roots(model: ModelProto) -> tuple[GraphProto | FunctionProto, ...]:
    return (model.graph, *model.functions)


def _fresh(shared: set[str], taken: set[str], old: dict[str, str]) -> Callable[[str], str]:
    """Return what gives each definition of a shared name another one, and leaves the others."""

    def chosen(name: str) -> str:
        if name not in shared:
            return name
        count = len(old)
        while (fresh := f"{name}/{count}") in taken or fresh in old:
            count += 1
        old[fresh] = name
        return fresh

    return chosen


def _shared(root: GraphProto | FunctionProto) -> tuple[set[str], set[str]]:
    """Return the names that a body defines and another scope has too, and all names."""
    scopes: Counter[str] = Counter(_names(root))
    inside: set[str] = set()
    for body in _subgraphs(root.node):
        inside |= set(_defined(body))
        scopes.update(_names(body))
    return {name for name in inside if scopes[name] > 1}, set(scopes)


def _subgraphs(nodes: Iterable[NodeProto]) -> Iterator[GraphProto]:
    """Walk the subgraphs of nodes, at any depth."""
    pending = [body for node in nodes for body in subgraphs_of(node)]
    while pending:
        body = pending.pop()
        yield body
        pending += (inner for node in body.node for inner in subgraphs_of(node))


def _defined(body: GraphProto) -> Iterator[str]:
    yield from (info.name for info in body.input)
    yield from (tensor.name for tensor in body.initializer)
    yield from (sparse.values.name for sparse in body.sparse_initializer)
    yield from (name for node in body.node for name in node.output if name)


def _names(scope: GraphProto | FunctionProto) -> set[str]:
    """Return what a scope defines or declares."""
    if isinstance(scope, FunctionProto):
        found = {*scope.input, *(name for node in scope.node for name in node.output if name)}
    else:
        found = set(_defined(scope))
    return found | {info.name for info in scope.value_info}


def _rename_subgraphs(nodes: Iterable[NodeProto], chosen: Callable[[str], str]) -> None:
    """Rename what the subgraphs of nodes define, at any depth."""
    pending = [(body, dict[str, str]()) for node in nodes for body in subgraphs_of(node)]
    while pending:
        body, around = pending.pop()
        known = _rename(body, around, chosen)
        pending += ((inner, known) for node in body.node for inner in subgraphs_of(node))


def _rename(
    body: GraphProto, around: Mapping[str, str], chosen: Callable[[str], str]
) -> dict[str, str]:
    """Rename what a subgraph defines, but for nested ones; return the renamed names."""
    own = {name: chosen(name) for name in dict.fromkeys(_defined(body))}
    # Names that stay hide those of scopes further out, too.
    known = {**around, **own}
    for info in (*body.input, *body.output):
        info.name = known.get(info.name, info.name)
    for info in body.value_info:  # what is declared of no tensor of this body is of none
        info.name = own.get(info.name, info.name)
    for tensor in body.initializer:
        tensor.name = own[tensor.name]
    for sparse in body.sparse_initializer:
        sparse.values.name = own[sparse.values.name]
    for node in body.node:
        if any(name in known for name in node.input):
            node.input[:] = [known.get(name, name) for name in node.input]
        node.output[:] = [own.get(name, name) for name in node.output]
    return known
