"""Other names for tensors of a whole model: main graph, subgraphs, functions, training."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from onnx import FunctionProto, GraphProto, ModelProto, ValueInfoProto

from graphfix.difference.renaming import rename_tensors
from graphfix.edits.addressing import graphs_of, roots, tensors_of
from graphfix.errors import UsageError
from graphfix.ir.protos import all_nodes


def rename_main(proto: ModelProto, names: Mapping[str, str], where: str) -> None:
    """Rename tensors that the main graph defines, in place, and wherever subgraphs capture them.

    Raises:
        UsageError: A new name is taken.
    """
    check_free(proto.graph, names, where)
    rename_tensors(proto.graph, lambda name, main: names.get(name, name) if main else name)
    for info in proto.training_info:
        for binding in (*info.initialization_binding, *info.update_binding):
            binding.key = names.get(binding.key, binding.key)


def rename_inner(root: GraphProto | FunctionProto, names: Mapping[str, str], where: str) -> None:
    """Rename tensors of a function, or of the subgraphs of a main graph, in place.

    Raises:
        UsageError: A new name is taken.
    """
    check_free(root, names, where)
    if isinstance(root, GraphProto):
        rename_tensors(root, lambda name, main: name if main else names.get(name, name))
    else:
        rename_function(root, lambda name: names.get(name, name))


def rename_function(function: FunctionProto, choose: Callable[[str], str]) -> None:
    """Rename every tensor of a local function, in place; `choose` returns the new name."""
    graph = GraphProto(node=function.node, value_info=function.value_info)
    graph.input.extend(ValueInfoProto(name=name) for name in function.input)
    graph.output.extend(ValueInfoProto(name=name) for name in function.output)
    rename_tensors(graph, lambda name, _: choose(name))
    function.input[:] = [info.name for info in graph.input]
    function.output[:] = [info.name for info in graph.output]
    for field, values in (("node", graph.node), ("value_info", graph.value_info)):
        function.ClearField(field)
        getattr(function, field).extend(values)


def prefix_all(proto: ModelProto, prefix: str, kept: set[str]) -> int:
    """Put a prefix before all names of a model but some tensors of its main graph, in place.

    Returns:
        How many names have it.
    """
    count = 0

    def choose(name: str, main: bool = False) -> str:
        nonlocal count
        if main and name in kept:
            return name
        count += 1
        new = prefix + name
        while new in kept:
            new = prefix + new
        return new

    rename_tensors(proto.graph, choose)
    for info in proto.training_info:
        for binding in (*info.initialization_binding, *info.update_binding):
            if binding.key not in kept:
                binding.key = prefix + binding.key
    for function in proto.functions:
        rename_function(function, choose)
    for root in roots(proto):
        for node in all_nodes(root.node):
            if node.name:
                node.name = prefix + node.name
                count += 1
    return count


def check_free(root: GraphProto | FunctionProto, names: Mapping[str, str], where: str) -> None:
    """Check that new names are free in a main graph or function, its subgraphs included.

    Raises:
        UsageError: One is taken, or two tensors would get one name.
    """
    taken = {name for graph in graphs_of(root) for name in tensors_of(graph)} - set(names)
    seen: dict[str, str] = {}
    for old, new in names.items():
        if not new:
            raise UsageError(f"the new name of {old!r} is empty", where=where)
        if new in taken:
            raise UsageError(f"a tensor is called {new!r} already", where=where)
        if seen.setdefault(new, old) != old:
            raise UsageError(f"{seen[new]!r} and {old!r} would both be called {new!r}", where=where)


def restored_ends(proto: ModelProto, model: ModelProto) -> ModelProto:
    """Return a copy of `proto` whose inputs and outputs bear the names of those of `model`.

    They are paired by their places. Inner tensors that are called so are moved out of the way.
    """
    copy = ModelProto()
    copy.CopyFrom(proto)
    names: dict[str, str] = {}
    for ours, theirs in (
        (proto.graph.input, model.graph.input),
        (proto.graph.output, model.graph.output),
    ):
        names.update((a.name, b.name) for a, b in zip(ours, theirs, strict=True))
    wanted = set(names.values())
    taken = {name for graph in graphs_of(copy.graph) for name in tensors_of(graph)} | wanted

    def choose(name: str, main: bool) -> str:
        if main and name in names:
            return names[name]
        if name not in wanted:
            return name
        number = 0
        while f"{name}.{number}" in taken:
            number += 1
        taken.add(f"{name}.{number}")
        return f"{name}.{number}"

    rename_tensors(copy.graph, choose)
    return copy


def rename_ends(proto: ModelProto, names: Mapping[str, str]) -> None:
    """Rename tensors of a main graph in place, to names that its own tensors do not have."""
    rename_tensors(proto.graph, lambda name, main: names.get(name, name) if main else name)
