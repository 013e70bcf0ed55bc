"""Models made of parts of another one: with another graph, or with other outputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from onnx import FunctionProto, GraphProto, ModelProto, NodeProto

from graphfix.ir.protos import copied, normal_domain, subgraphs_of

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
