"""Protos: the subgraphs of a node, what is in them at any depth, models made of parts of another.

Tensors of subgraphs that share a name with one elsewhere are distinguished for ONNX's inference.
Two branches of an If may name what they compute alike, as those of a decoder merged from two files
do, and a file may declare such a name in its main graph as well. ONNX's inference keeps what it
computes of shapes by name alone, for all subgraphs of a graph together, and takes what is declared
around a body for what is declared of a tensor in it (onnx/shape_inference/implementation.cc, onnx
1.23): the shape that one branch computes is read in the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    numpy_helper,
)

if TYPE_CHECKING:
    import google.protobuf.message


Message = TypeVar("Message", bound="google.protobuf.message.Message")
_GRAPH = AttributeProto.GRAPH  # looked up once: a message class finds its enums slowly
_NUMBERS: dict[str, tuple[str, type[np.generic]]] = {
    "value_int": ("i", np.int64),
    "value_ints": ("ints", np.int64),
    "value_float": ("f", np.float32),
    "value_floats": ("floats", np.float32),
}


def copied(message: Message) -> Message:
    """Return a copy of a message."""
    copy = type(message)()
    copy.CopyFrom(message)
    return copy


def normal_domain(domain: str | None) -> str:
    """Return the domain with the default one always written as the empty string."""
    return "" if domain in (None, "ai.onnx") else domain


def called(op: str, name: str, outputs: Iterable[str]) -> str:
    """Return a node as a sentence names it, an unnamed one by its first output: ``Add 'sum_3'``."""
    known = name or next(filter(None, outputs), "")
    return f"{op} {known!r}" if known else op


def constant_of_node(node: NodeProto) -> TensorProto | None:
    """Return the tensor of a Constant node, however it is written, without a name of its own.

    None for other nodes, and for those that hold texts in attributes or a sparse tensor
    (https://onnx.ai/onnx/operators/onnx__Constant.html).
    """
    is_constant = node.op_type == "Constant" and not normal_domain(node.domain)
    if not is_constant or len(node.attribute) != 1:
        return None
    attribute = node.attribute[0]
    if attribute.name == "value" and attribute.type == AttributeProto.TENSOR:
        return attribute.t
    if attribute.name not in _NUMBERS:
        return None
    field, dtype = _NUMBERS[attribute.name]
    return numpy_helper.from_array(np.array(getattr(attribute, field), dtype))


def subgraphs_of(node: NodeProto) -> Iterator[GraphProto]:
    """Yield the subgraphs of a node."""
    for attribute in node.attribute or ():  # most have none, and an empty list is slow to walk
        if attribute.type == _GRAPH:
            yield attribute.g
        yield from attribute.graphs


def bound(node: NodeProto, given: Mapping[str, AttributeProto]) -> NodeProto:
    """Return a copy of a node of a function with what a call gives in the place of references.

    What the call leaves out is left out; nodes of subgraphs are bound as well.
    """
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


def all_nodes(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """Yield nodes, each followed by those of the subgraphs inside it."""
    for node in nodes:
        yield node
        if node.attribute:
            for body in subgraphs_of(node):
                yield from all_nodes(body.node)


def nodes_of_model(model: ModelProto) -> Iterator[NodeProto]:
    """Yield the nodes of a model: of its graph, its functions, and all subgraphs inside them."""
    yield from all_nodes(model.graph.node)
    for function in model.functions:
        yield from all_nodes(function.node)


def all_graphs(graph: GraphProto) -> Iterator[GraphProto]:
    """Yield a graph and every body below it."""
    pending = [graph]
    while pending:
        graph = pending.pop()
        yield graph
        for node in graph.node:
            if node.attribute:
                pending.extend(subgraphs_of(node))


def required_inputs(graph: GraphProto) -> list[ValueInfoProto]:
    """Return the inputs that a caller has to feed: those without an initializer."""
    initialized = {tensor.name for tensor in graph.initializer}
    initialized |= {tensor.values.name for tensor in graph.sparse_initializer}
    return [info for info in graph.input if info.name not in initialized]


def let_store(proto: ModelProto) -> None:
    """Give a model a format in which a stored tensor is no input, in place.

    Before IR version 4 each is listed as one; from there on a caller may feed those that are.
    """
    if proto.ir_version < 4:
        needed = [copied(info) for info in required_inputs(proto.graph)]
        proto.graph.ClearField("input")
        proto.graph.input.extend(needed)
        proto.ir_version = 4


def names_read(node: NodeProto) -> dict[str, None]:
    """Return what a node reads, captured names too, in order."""
    names = dict.fromkeys(name for name in node.input if name)
    for body in subgraphs_of(node):
        names.update(_free(body))
    return names


def _free(body: GraphProto) -> dict[str, None]:
    made = {info.name for info in body.input} | {t.name for t in body.initializer}
    made |= {t.values.name for t in body.sparse_initializer}
    made |= {name for node in body.node for name in node.output}
    read = dict.fromkeys(name for node in body.node for name in names_read(node))
    read.update((info.name, None) for info in body.output)
    return {name: None for name in read if name not in made}


FunctionKey = tuple[str, str, str]
Functions = Mapping[FunctionKey, FunctionProto]

_OF_THE_GRAPH = frozenset({"graph", "functions", "training_info"})


def function_key(domain: str, name: str, overload: str) -> FunctionKey:
    """Return what a local function is called by."""
    return (normal_domain(domain), name, overload)


def functions_of(model: ModelProto) -> dict[FunctionKey, FunctionProto]:
    """Return the local functions of a model by what they are called by."""
    return {function_key(f.domain, f.name, f.overload): f for f in model.functions}


def called_functions(nodes: Iterable[NodeProto], functions: Functions) -> list[FunctionProto]:
    """Return the local functions that nodes call, directly or not, in the order of `functions`."""
    found: set[FunctionKey] = set()
    pending = [*nodes] if functions else []
    while pending:
        node = pending.pop()
        for body in subgraphs_of(node):
            pending += body.node
        key = function_key(node.domain, node.op_type, node.overload)
        if key in functions and key not in found:
            found.add(key)
            pending += functions[key].node
    return [function for key, function in functions.items() if key in found]


def with_graph(model: ModelProto, graph: GraphProto) -> ModelProto:
    """Return a model with another graph, and the functions that this one calls."""
    fresh = ModelProto(graph=graph)
    for field, value in model.ListFields():
        if field.name not in _OF_THE_GRAPH:
            if field.is_repeated:
                getattr(fresh, field.name).extend(value)
            else:
                setattr(fresh, field.name, value)
    fresh.functions.extend(called_functions(graph.node, functions_of(model)))
    return fresh


def with_outputs(
    model: ModelProto, names: Iterable[str], types: Mapping[str, int] | None = None
) -> ModelProto:
    """Return a copy whose outputs are these tensors of its main graph.

    Args:
        model: The model.
        names: The tensors.
        types: Their element types, where they are known and not 0.
    """
    copy = copied(model)
    del copy.graph.output[:]
    add_outputs(copy.graph, names, types)
    return copy


def add_outputs(
    graph: GraphProto, names: Iterable[str], types: Mapping[str, int] | None = None
) -> None:
    """Make tensors outputs that are none; see `with_outputs`."""
    known = {info.name for info in graph.output}
    for name in dict.fromkeys(names):
        if name not in known:
            info = graph.output.add(name=name)
            element = types.get(name, 0) if types is not None else 0
            if element:
                info.type.tensor_type.elem_type = element


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
