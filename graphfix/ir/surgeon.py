"""The one door to onnx-graphsurgeon: a model as its graph, for those who edit with it, and back.

onnx-graphsurgeon forgets doc strings, metadata, overloads and whatever a model says apart from its
graph; what it leaves as it was gets all of that back from the model that it was made from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial
from importlib import import_module
from typing import Any

from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    helper,
)

from graphfix.errors import GraphfixError, InvalidModel, UsageError
from graphfix.ir.model import Model
from graphfix.ir.protos import Message, all_graphs, copied
from graphfix.ir.stand_ins import roll_back, stand_in
from graphfix.ir.storage.weights import is_external, load_array

GsGraph = Any  # an onnx_graphsurgeon.Graph: the library has no types

# The graphs that a body lies in, outer ones first, each with what it was before.
_Around = tuple[tuple[GraphProto, GraphProto], ...]

_OPTIONAL = 4  # the IR version from which on initializers need not be inputs
_ABOUT_NODES = ("doc_string", "metadata_props", "device_configurations")


def to_graphsurgeon(model: Model) -> GsGraph:
    """Return a model as an `onnx_graphsurgeon.Graph` of its own; the model is not touched.

    Weights are read when their values are asked for, those outside the file as well.

    What onnx-graphsurgeon cannot carry has something stand for it, which may be moved about: see
    `graphfix.ir.stand_ins`.

    Raises:
        UsageError: onnx-graphsurgeon does not take the model.
    """
    gs: Any = import_module("onnx_graphsurgeon")

    proto = model.to_proto()
    stand_in(proto)
    try:
        graph = gs.import_onnx(proto)
    except Exception as error:  # its importer raises whatever comes to hand
        raise UsageError(f"onnx-graphsurgeon does not take this model: {_said(error)}") from error
    _read_from(model.base_dir, graph)
    return graph


def from_graphsurgeon(graph: GsGraph, model: Model, *, typed: bool = True) -> Model:
    """Return what was edited as a model; what is as it was has all that it had in `model`.

    Args:
        graph: An `onnx_graphsurgeon.Graph`, made by `to_graphsurgeon` of `model` or by hand.
        model: The model that it was made from; it stays as it is.
        typed: Whether inputs and outputs must have an element type.

    Raises:
        InvalidModel: The graph uses names that nothing defines, or cannot be written at all.
    """
    gs: Any = import_module("onnx_graphsurgeon")

    try:
        edited = gs.export_onnx(graph, do_type_check=typed)
    except GraphfixError:
        raise
    except Exception as error:  # its exporter raises whatever comes to hand
        raise InvalidModel(f"onnx-graphsurgeon cannot write this graph: {_said(error)}") from error
    before = model.to_proto()
    roll_back(edited, before)
    result = copied(before)
    for name in ("functions", "opset_import"):
        result.ClearField(name)
    for field in result.graph.DESCRIPTOR.fields:  # what onnx knows; the rest stays
        result.graph.ClearField(field.name)
    result.ir_version = edited.ir_version
    result.opset_import.extend(edited.opset_import)
    result.graph.MergeFrom(edited.graph)
    _restore_graph(result.graph, before.graph, ())
    _restore_defaults(result, before.graph)
    known = {(f.domain, f.name, f.overload): f for f in before.functions}
    for function in edited.functions:
        old = known.get((function.domain, function.name, function.overload))
        if old is not None:
            _restore_function(function, old)
        result.functions.append(function)
    return Model(result, base_dir=model.base_dir)


def _said(error: Exception) -> str:
    return (" ".join(str(error).split()) or type(error).__name__)[:200]


def _read_from(base_dir: str, graph: GsGraph) -> None:
    """Let weights outside the file be read from the folder of the model."""
    for part in (graph, *graph.functions):
        for each in (part, *part.subgraphs(recursive=True)):
            for tensor in each.tensors().values():
                values: Any = getattr(tensor, "_values", None)
                proto = getattr(values, "tensor", None)
                if isinstance(proto, TensorProto) and is_external(proto):
                    values.load = partial(load_array, proto, base_dir)


def _restore_graph(graph: GraphProto, before: GraphProto, around: _Around) -> None:
    _copy(("metadata_props",), graph, before)
    left = {name for node in graph.node for name in node.output}
    left.update(info.name for info in graph.input)
    left.update(tensor.name for tensor in graph.initializer)
    if around:
        _forget_outer(graph, before, left)
    for annotation in before.quantization_annotation:
        if annotation.tensor_name in left:
            graph.quantization_annotation.add().CopyFrom(annotation)
    _restore_infos(graph.input, before.input)
    _restore_infos(graph.output, before.output)
    _restore_infos(graph.value_info, before.value_info)
    _restore_nodes(graph.node, before.node, (*around, (graph, before)))
    _move_out(graph, before, around)
    _restore_unread(graph, before)
    _restore_order(graph.initializer, before.initializer)
    _restore_order(graph.value_info, before.value_info)


def _forget_outer(body: GraphProto, before: GraphProto, own: Collection[str]) -> None:
    """Drop the types that onnx-graphsurgeon writes into a body for what is not declared there."""
    kept = [copied(info) for info in body.value_info if info.name in own]
    body.ClearField("value_info")
    body.value_info.extend(kept)
    bare = {info.name for info in before.output if not info.HasField("type")}
    for info in body.output:
        if info.name in bare:
            info.ClearField("type")


def _restore_unread(graph: GraphProto, before: GraphProto) -> None:
    """Rolled back what was stored and read by no one: onnx-graphsurgeon writes what nodes read."""
    graphs = list(all_graphs(before))
    read = {info.name for each in graphs for info in each.output}
    read.update(name for each in graphs for node in each.node for name in node.input)
    left = {tensor.name for tensor in graph.initializer}
    graph.initializer.extend(t for t in before.initializer if t.name not in read | left)
    left = {tensor.values.name for tensor in graph.sparse_initializer}
    graph.sparse_initializer.extend(
        t for t in before.sparse_initializer if t.values.name not in read | left
    )


def _restore_order(entries: Any, before: Iterable[Any]) -> None:
    """Put entries into the order that they had, new ones last."""
    places = {entry.name: place for place, entry in enumerate(before)}

    def place_of(entry: Any) -> int:
        return places.get(entry.name, len(places))

    entries.sort(key=place_of)


def _restore_defaults(model: ModelProto, before: GraphProto) -> None:
    """Declare inputs again whose default is stored: onnx-graphsurgeon has them as constants.

    Before IR version 4 everything that is stored is an input, too.
    """
    graph, known = model.graph, {info.name: info for info in before.input}
    order, places = list(known), {info.name: i for i, info in enumerate(graph.input)}
    inputs = list(graph.input)
    for tensor in graph.initializer:
        name = tensor.name
        if name not in places and (name in known or model.ir_version < _OPTIONAL):
            made = helper.make_tensor_value_info(name, tensor.data_type, tensor.dims)
            inputs.append(known.get(name, made))
    for info in inputs[len(places) :]:  # each goes after the input that it was after
        if info.name in known:
            inputs.remove(info)
            earlier = order[: order.index(info.name)]
            left = [i for i, each in enumerate(inputs) if each.name in earlier]
            inputs.insert(left[-1] + 1 if left else 0, info)
    del graph.input[:]
    graph.input.extend(inputs)


def _move_out(graph: GraphProto, before: GraphProto, around: _Around) -> None:
    """Put initializers that a body only used back to the graph around it that held them.

    onnx-graphsurgeon writes an initializer into every graph that uses it.
    """
    own = {tensor.name for tensor in before.initializer}
    for position in reversed(range(len(graph.initializer))):
        tensor: TensorProto = graph.initializer[position]
        holder = _holder(tensor.name, around) if tensor.name not in own else None
        if holder is not None:
            if all(tensor.name != known.name for known in holder.initializer):
                holder.initializer.add().CopyFrom(tensor)
            del graph.initializer[position]


def _holder(name: str, around: _Around) -> GraphProto | None:
    for graph, before in reversed(around):
        if any(tensor.name == name for tensor in before.initializer):
            return graph
    return None


def _restore_function(function: FunctionProto, before: FunctionProto) -> None:
    _copy(("metadata_props", "value_info"), function, before)
    _restore_nodes(function.node, before.node, ())
    _restore_unknown(function, before)


def _restore_infos(infos: Iterable[ValueInfoProto], before: Iterable[ValueInfoProto]) -> None:
    known = {info.name: info for info in before}
    for info in infos:
        old = known.get(info.name)
        if old is None:
            continue
        if not info.HasField("type") or info == _plain_info(old):
            info.CopyFrom(old)
        else:
            _copy(("doc_string", "metadata_props"), info, old)


def _plain_info(info: ValueInfoProto) -> ValueInfoProto:
    """Return a declaration as onnx-graphsurgeon would write it."""
    plain = ValueInfoProto(name=info.name)
    plain.type.CopyFrom(info.type)
    plain.type.ClearField("denotation")
    for dim in plain.type.tensor_type.shape.dim if plain.type.HasField("tensor_type") else ():
        dim.ClearField("denotation")
    return plain


def _restore_nodes(
    nodes: Iterable[NodeProto], before: Iterable[NodeProto], around: _Around
) -> None:
    """Give nodes that compute what they computed, by the same operator, what was said of them."""
    known = {next(filter(None, node.output), ""): node for node in before}
    for node in nodes:
        old = known.get(next(filter(None, node.output), ""))
        if old is None or (old.op_type, old.domain) != (node.op_type, node.domain):
            continue
        _copy(_ABOUT_NODES, node, old)
        if not node.name and not old.name:
            _copy(("name",), node, old)
        attributes = {attribute.name: attribute for attribute in old.attribute}
        for attribute in node.attribute:
            was = attributes.get(attribute.name)
            if was is None or was.type != attribute.type:
                continue
            if attribute.type == AttributeProto.GRAPH:
                _copy(("doc_string",), attribute, was)
                _restore_graph(attribute.g, was.g, around)
            elif _is_as_it_was(attribute, was):
                attribute.CopyFrom(was)
            else:
                _copy(("doc_string",), attribute, was)
        _restore_unknown(node, old)


def _restore_unknown(part: Message, before: Message) -> None:
    """Put fields back that onnx does not know, where all others are as they were."""
    known = copied(before)
    known.DiscardUnknownFields()
    if part == known:
        part.CopyFrom(before)


def _is_as_it_was(attribute: AttributeProto, was: AttributeProto) -> bool:
    """Say whether an attribute has the value that it had; what is not written is as empty."""
    if attribute.HasField("t") and was.HasField("t") and attribute.t.name == was.t.name:
        if not was.t.HasField("name"):
            attribute.t.ClearField("name")
        return attribute.t == was.t
    names = ("f", "i", "s", "floats", "ints", "strings", "ref_attr_name")
    return not was.HasField("t") and all(getattr(attribute, n) == getattr(was, n) for n in names)


def _copy(names: Iterable[str], target: Any, source: Any) -> None:
    """Copy fields, those that are repeated in place of what the target has."""
    for descriptor, value in source.ListFields():
        if descriptor.name not in names:
            continue
        target.ClearField(descriptor.name)
        if isinstance(value, str | int):
            setattr(target, descriptor.name, value)
        else:
            getattr(target, descriptor.name).extend(value)
