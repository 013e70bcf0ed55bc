"""Bringing two models into one file: opsets, names, functions, sizes, stored data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from onnx import ModelProto, TypeProto

from graphfix.analysis.inference import type_text
from graphfix.difference.renaming import rename_tensors
from graphfix.edits.addressing import graphs_of, places, roots, tensors_of
from graphfix.edits.declared_sizes import dims_of, set_size
from graphfix.errors import UsageError
from graphfix.ir.model import Model
from graphfix.ir.protos import (
    all_graphs,
    all_nodes,
    copied,
    function_key,
    functions_of,
    let_store,
    normal_domain,
)
from graphfix.ir.storage.reading import walk_tensors
from graphfix.ir.storage.saving import take_in
from graphfix.ir.storage.weights import is_external
from graphfix.pipeline.reproducers.recorded_run import finish_with
from graphfix.pipeline.settings import RunOptions


def at_opset(model: Model, wanted: int, where: str) -> ModelProto:
    """Return a model at another opset, one step of the chain after the other.

    Raises:
        UsageError: A node blocks it.
    """
    if model.opset == wanted or not model.opset:
        return model.to_proto()
    settings = RunOptions(opset=wanted, verify="off").settings()
    result = finish_with(model.copy(), settings, (), None)
    if result.model.opset != wanted:
        reasons = [o.reason for o in result.report.outcomes if o.reason]
        raise UsageError(
            f"opset {model.opset} cannot be brought to {wanted}: {'; '.join(reasons[:2])}",
            where=where,
        )
    return result.model.to_proto()


def check_imports(ours: ModelProto, theirs: ModelProto, where: str) -> None:
    """Check that two models mean the same operators by their names.

    Raises:
        UsageError: They import different versions of a domain.
    """
    known = {normal_domain(entry.domain): entry.version for entry in ours.opset_import}
    for entry in theirs.opset_import:
        domain = normal_domain(entry.domain)
        if known.get(domain, entry.version) != entry.version:
            raise UsageError(
                f"one model imports {domain or 'ai.onnx'} {known[domain]}, the other "
                f"{entry.version}",
                where=where,
            )


def add_imports(ours: ModelProto, theirs: ModelProto) -> None:
    """Let a model import what another one does, and have a format that holds both."""
    known = {normal_domain(entry.domain) for entry in ours.opset_import}
    ours.opset_import.extend(
        entry for entry in theirs.opset_import if normal_domain(entry.domain) not in known
    )
    if theirs.ir_version > ours.ir_version:
        let_store(ours)
    ours.ir_version = max(ours.ir_version, theirs.ir_version)
    keys = {entry.key for entry in ours.metadata_props}
    ours.metadata_props.extend(e for e in theirs.metadata_props if e.key not in keys)


def taken_in(proto: ModelProto, base_dir: str, ours: str) -> ModelProto:
    """Return a copy that a file in folder `ours` can hold: data of other folders is read."""
    copy = copied(proto)
    if base_dir and ours and Path(base_dir).resolve() == Path(ours).resolve():
        return copy
    for tensor in walk_tensors(copy):
        if is_external(tensor):
            take_in(tensor, Path(base_dir))
    return copy


def unique_names(
    theirs: ModelProto, ours: ModelProto, kept: Iterable[str] = (), read: Iterable[str] = ()
) -> dict[str, str]:
    """Rename tensors, nodes and functions of a model that are called as some of another one.

    Args:
        theirs: The model, changed in place.
        ours: The other one.
        kept: Tensors of the main graph that keep their names.
        read: Names that are only read there so far: what is added will write them.

    Returns:
        The new names of tensors of the main graph.
    """
    taken = {name for graph in graphs_of(ours.graph) for name in tensors_of(graph)} | {*read}
    own = {name for graph in graphs_of(theirs.graph) for name in tensors_of(graph)}
    used = taken | own
    keep = set(kept)
    names: dict[str, str] = {}

    def choose(name: str, main: bool) -> str:
        if name not in taken or (main and name in keep):
            return name
        new = _free(name, used)
        if main:
            names[name] = new
        return new

    rename_tensors(theirs.graph, choose)
    nodes = {place.node.name for place in places(ours)}
    used = nodes | {place.node.name for place in places(theirs)}
    for place in places(theirs):
        if place.root is theirs.graph and place.node.name and place.node.name in nodes:
            place.node.name = _free(place.node.name, used)
    _unique_functions(theirs, ours)
    return names


def free_prefix(word: str, protos: Iterable[ModelProto]) -> str:
    """Return a prefix, ``word/`` or a number after it, that no tensor's name begins with."""
    names = [name for p in protos for g in graphs_of(p.graph) for name in tensors_of(g)]
    prefix, number = f"{word}/", 2
    while any(name.startswith(prefix) for name in names):
        prefix, number = f"{word}_{number}/", number + 1
    return prefix


def _free(name: str, used: set[str]) -> str:
    number = 2
    while f"{name}_{number}" in used:
        number += 1
    used.add(f"{name}_{number}")
    return f"{name}_{number}"


def _unique_functions(theirs: ModelProto, ours: ModelProto) -> None:
    known = functions_of(ours)
    used = {function.name for function in (*ours.functions, *theirs.functions)}
    new: dict[tuple[str, str, str], str] = {}
    for function in theirs.functions:
        key = function_key(function.domain, function.name, function.overload)
        if key in known and known[key] != function:
            new[key] = function.name = _free(function.name, used)
    for root in roots(theirs) if new else ():
        for node in all_nodes(root.node):
            key = function_key(node.domain, node.op_type, node.overload)
            node.op_type = new.get(key, node.op_type)


def add_functions(ours: ModelProto, theirs: ModelProto) -> None:
    """Add the functions of another model that are not there yet."""
    known = functions_of(ours)
    ours.functions.extend(f for key, f in functions_of(theirs).items() if key not in known)


def check_fits(given: TypeProto, wanted: TypeProto, text: str, where: str) -> None:
    """Check that a tensor may be where a model wants one of another declaration.

    Raises:
        UsageError: Kinds, element types, ranks or sizes contradict each other.
    """
    one, two = given.tensor_type, wanted.tensor_type
    both = given.WhichOneof("value") == wanted.WhichOneof("value") == "tensor_type"
    fits = both and one.elem_type == two.elem_type
    if fits and one.HasField("shape") and two.HasField("shape"):
        fits = len(one.shape.dim) == len(two.shape.dim) and all(
            not (a.HasField("dim_value") and b.HasField("dim_value")) or a.dim_value == b.dim_value
            for a, b in zip(one.shape.dim, two.shape.dim, strict=True)
        )
    if not fits:
        raise UsageError(f"{text} is {type_text(given)}, not {type_text(wanted)}", where=where)


def bind_symbols(proto: ModelProto, sizes: Mapping[str, int | str]) -> None:
    """Replace symbols of the declarations of a main graph and its subgraphs, in place."""
    for graph in all_graphs(proto.graph) if sizes else ():
        for info in (*graph.input, *graph.output, *graph.value_info):
            for dim in dims_of(info.type):
                if dim.dim_param in sizes:
                    set_size(dim, sizes[dim.dim_param])


def symbols_of(proto: ModelProto) -> set[str]:
    """Return the symbols that a main graph and its subgraphs declare."""
    return {
        dim.dim_param
        for graph in all_graphs(proto.graph)
        for info in (*graph.input, *graph.output, *graph.value_info)
        for dim in dims_of(info.type)
        if dim.dim_param
    }
