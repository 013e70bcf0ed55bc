"""The one door to onnx-graphsurgeon: a model as its graph, for those who edit with it, and back.

onnx-graphsurgeon forgets doc strings, metadata, overloads and whatever a model says besides its
graph; what it leaves as it was gets all of that back from the model that it was made from.
"""

from __future__ import annotations

from collections.abc import Iterable
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
)

from graphfix.errors import GraphfixError, InvalidModel, UsageError
from graphfix.model import Model
from graphfix.storage.weights import is_external, load_array

GsGraph = Any  # an onnx_graphsurgeon.Graph: the library has no types

# The graphs that a body lies in, outer ones first, each with what it was before.
_Around = tuple[tuple[GraphProto, GraphProto], ...]

_ABOUT_NODES = ("doc_string", "metadata_props", "overload", "device_configurations")


def to_graphsurgeon(model: Model) -> GsGraph:
    """Return a model as an `onnx_graphsurgeon.Graph` of its own; the model is not touched.

    Weights are read when their values are asked for, those outside the file as well.

    Raises:
        UsageError: Two functions differ by nothing but their overload, which onnx-graphsurgeon
            takes for one, or it does not take the model at all.
    """
    gs: Any = import_module("onnx_graphsurgeon")

    keys = {function.key[:2] for function in model.functions}
    if len(keys) != len(model.functions):
        raise UsageError(
            "onnx-graphsurgeon does not tell functions apart that differ by their overload",
            hint="inline the functions first: graphfix run MODEL --passes inline-functions",
        )
    try:
        graph = gs.import_onnx(model.to_proto())
    except Exception as error:  # its importer raises whatever comes to hand
        raise UsageError(f"onnx-graphsurgeon does not take this model: {_said(error)}") from error
    _read_from(model.base_dir, graph)
    return graph


def from_graphsurgeon(graph: GsGraph, model: Model) -> Model:
    """Return what was edited as a model; what is as it was has all that it had in `model`.

    Args:
        graph: An `onnx_graphsurgeon.Graph`, made by `to_graphsurgeon` of `model` or by hand.
        model: The model that it was made from; it stays as it is.

    Raises:
        InvalidModel: The graph uses names that nothing defines, or cannot be written at all.
    """
    gs: Any = import_module("onnx_graphsurgeon")

    try:
        edited = gs.export_onnx(graph)
    except GraphfixError:
        raise
    except Exception as error:  # its exporter raises whatever comes to hand
        raise InvalidModel(f"onnx-graphsurgeon cannot write this graph: {_said(error)}") from error
    before = model.to_proto()
    result = ModelProto()
    result.CopyFrom(before)
    for name in ("graph", "functions", "opset_import"):
        result.ClearField(name)
    result.opset_import.extend(edited.opset_import)
    result.graph.CopyFrom(edited.graph)
    _restore_graph(result.graph, before.graph, ())
    known = {(function.domain, function.name): function for function in before.functions}
    for function in edited.functions:
        old = known.get((function.domain, function.name))
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
    _copy(("doc_string", "metadata_props"), graph, before)
    left = {name for node in graph.node for name in node.output}
    left.update(info.name for info in graph.input)
    left.update(tensor.name for tensor in graph.initializer)
    for annotation in before.quantization_annotation:
        if annotation.tensor_name in left:
            graph.quantization_annotation.add().CopyFrom(annotation)
    _restore_infos(graph.input, before.input)
    _restore_infos(graph.output, before.output)
    _restore_infos(graph.value_info, before.value_info)
    _restore_nodes(graph.node, before.node, (*around, (graph, before)))
    _move_out(graph, before, around)


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
    _copy(("doc_string", "metadata_props", "overload", "value_info"), function, before)
    _restore_nodes(function.node, before.node, ())


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
        attributes = {attribute.name: attribute for attribute in old.attribute}
        for attribute in node.attribute:
            was = attributes.get(attribute.name)
            if was is None or was.type != attribute.type:
                continue
            _copy(("doc_string",), attribute, was)
            if attribute.type == AttributeProto.GRAPH:
                _restore_graph(attribute.g, was.g, around)


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
