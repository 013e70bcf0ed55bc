"""What nodes that repairs made say in their metadata: by which repair, and from which node."""

from __future__ import annotations

from collections.abc import Iterator

from onnx import (
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
)

from graphfix.ir.protos import copied
from graphfix.ir.storage.reading import walk_graphs, walk_nodes, walk_tensors

MADE_BY = "graphfix.made_by"
FROM = "graphfix.from"


def stripped(proto: ModelProto) -> ModelProto:
    """Return a copy without what exporters wrote about nodes, tensors, graphs and functions.

    Doc strings and metadata of these, such as the stack traces of torch.onnx; those of the model
    itself stay, which programs read (labels, sizes), and what repairs said of nodes. Recorded types
    of initializers are left out, too: these say their own.
    """
    result = copied(proto)
    for part in _parts(result):
        part.ClearField("doc_string")
        kept = [copied(each) for each in part.metadata_props if each.key in (MADE_BY, FROM)]
        part.ClearField("metadata_props")
        part.metadata_props.extend(kept)
    for graph in walk_graphs(result):
        stored = {tensor.name for tensor in graph.initializer}
        infos = [copied(info) for info in graph.value_info if info.name not in stored]
        graph.ClearField("value_info")
        graph.value_info.extend(infos)
    for node in walk_nodes(result):
        for attribute in node.attribute:
            attribute.ClearField("doc_string")
    return result


def _parts(
    proto: ModelProto,
) -> Iterator[FunctionProto | GraphProto | NodeProto | TensorProto | ValueInfoProto]:
    yield from proto.functions
    yield from walk_nodes(proto)
    yield from walk_tensors(proto)
    for graph in walk_graphs(proto):
        yield graph
        yield from graph.input
        yield from graph.output
        yield from graph.value_info
    for function in proto.functions:
        yield from function.value_info
