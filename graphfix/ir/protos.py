"""Walking through protos: the subgraphs of a node, and what is in them at any depth; copies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, numpy_helper

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
