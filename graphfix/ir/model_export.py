"""From a graph and its functions back to a ModelProto."""

from __future__ import annotations

from typing import Any

import onnx
from onnx import ModelProto

from graphfix.ir.exporting import write_graph, write_nodes
from graphfix.ir.graph import Function, Graph
from graphfix.ir.light_export import write_light
from graphfix.ir.protos import normal_domain


def export_model(
    original: ModelProto, graph: Graph, functions: list[Function], *, weights: bool = True
) -> ModelProto:
    """Return a new ModelProto.

    Args:
        original: The model as it was loaded; everything that the graph does not hold is its.
        graph: The main graph.
        functions: The local functions that are left.
        weights: False leaves the values of big initializers out and makes graph inputs of
            them, for shape inference and the checker.
    """
    result = ModelProto()
    if weights:
        result.CopyFrom(original)
    else:
        _copy_without(original, result, {"graph", "functions", "training_info"})
    _write_opsets(result.opset_import, graph.opsets)
    if weights:
        write_graph(graph, result.graph)
    else:
        result.graph.name = graph.name
        write_light(graph, result.graph)
    _write_functions(result, original, functions, copied=weights)
    return result


def _copy_without(source: Any, target: Any, names: set[str]) -> None:
    for descriptor, value in source.ListFields():
        if descriptor.name in names:
            continue
        if descriptor.is_repeated:
            getattr(target, descriptor.name).extend(value)
        elif descriptor.message_type is not None:
            getattr(target, descriptor.name).CopyFrom(value)
        else:
            setattr(target, descriptor.name, value)


def _write_functions(
    result: ModelProto, original: ModelProto, functions: list[Function], *, copied: bool
) -> None:
    protos: list[onnx.FunctionProto] = []
    changed = len(functions) != len(original.functions)
    for function in functions:
        proto = onnx.FunctionProto()
        proto.CopyFrom(function.function)
        touched = write_nodes(function, proto)
        names = [tensor.name for tensor in function.outputs]
        if names != list(proto.output):
            touched = True
            del proto.output[:]
            proto.output.extend(names)
        before = {normal_domain(o.domain): o.version for o in proto.opset_import}
        if before != function.opsets:
            touched = True
            _write_opsets(proto.opset_import, function.opsets)
        changed = changed or touched
        protos.append(proto)
    if changed or not copied:
        del result.functions[:]
        result.functions.extend(protos)


def _write_opsets(target: Any, opsets: dict[str, int]) -> None:
    seen: set[str] = set()
    kept: list[int] = []
    for position, entry in enumerate(target):
        domain = "" if entry.domain == "ai.onnx" else entry.domain
        if domain in opsets and domain not in seen:
            seen.add(domain)
            if entry.version != opsets[domain]:
                entry.version = opsets[domain]
            kept.append(position)
    for position in reversed(range(len(target))):
        if position not in kept:
            del target[position]
    for domain, version in opsets.items():
        if domain not in seen:
            target.add(domain=domain, version=version)
