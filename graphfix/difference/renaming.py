"""Give tensors other names, in a graph and wherever its subgraphs capture them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from onnx import GraphProto

from graphfix.difference.scopes import subgraphs_of

# Called with an old name and whether it is defined in the main graph; returns the new one.
Choose = Callable[[str, bool], str]


def rename_tensors(graph: GraphProto, choose: Choose) -> None:
    """Rename every tensor of a graph and of its subgraphs, in place.

    Inputs, outputs, stored tensors, value_info and quantization annotations follow; local
    functions have names of their own and are left alone.

    Args:
        graph: The main graph.
        choose: Returns the new name; it must not give two tensors one name.
    """
    _rename(graph, {}, choose, is_main=True)


def _rename(graph: GraphProto, outer: Mapping[str, str], choose: Choose, *, is_main: bool) -> None:
    names: dict[str, str] = {}
    given = [info.name for info in graph.input]
    given += [tensor.name for tensor in graph.initializer]
    given += [sparse.values.name for sparse in graph.sparse_initializer]
    for name in given:
        if name and name not in names:
            names[name] = choose(name, is_main)
    for node in graph.node:
        for name in node.output:
            if name and name not in names:
                names[name] = choose(name, is_main)
    known = {**outer, **names}
    for info in [*graph.input, *graph.output, *graph.value_info]:
        info.name = known.get(info.name, info.name)
    for tensor in graph.initializer:
        tensor.name = known.get(tensor.name, tensor.name)
    for sparse in graph.sparse_initializer:
        sparse.values.name = known.get(sparse.values.name, sparse.values.name)
    for entry in graph.quantization_annotation:
        entry.tensor_name = known.get(entry.tensor_name, entry.tensor_name)
        for part in entry.quant_parameter_tensor_names:
            part.value = known.get(part.value, part.value)
    for node in graph.node:
        node.input[:] = [known.get(name, name) for name in node.input]
        node.output[:] = [known.get(name, name) for name in node.output]
        for device in node.device_configurations:
            for spec in device.sharding_spec:
                spec.tensor_name = known.get(spec.tensor_name, spec.tensor_name)
        for _, body in subgraphs_of(node):
            _rename(body, known, choose, is_main=False)
