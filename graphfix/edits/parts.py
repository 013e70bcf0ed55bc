"""Parts of a model between tensors that the user names, and what is left of it without others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from onnx import GraphProto, ModelProto, TensorProto, ValueInfoProto, helper

from graphfix.difference.renaming import rename_tensors
from graphfix.difference.scopes import Scope
from graphfix.edits.renaming import prefix_all
from graphfix.edits.step import Subject
from graphfix.errors import UsageError
from graphfix.ir.protos import copied, function_key, let_store, names_read, with_graph
from graphfix.reduction.tensor_types import declaration, is_full
from graphfix.validity.declarations import contradicts


def needed(scope: Scope, names: Iterable[str], given: Collection[str] = ()) -> set[int]:
    """Return the nodes that compute tensors from `given` ones, which are not looked after."""
    found: set[int] = set()
    pending = [name for name in names if name not in given]
    while pending:
        made = scope.makers.get(pending.pop())
        if made is None or made[0] in found:
            continue
        found.add(made[0])
        pending += [n for n in read_by(scope, made[0]) if n not in given]
    return found


def read_by(scope: Scope, index: int) -> list[str]:
    """Return what a node reads, values captured by its subgraphs included."""
    names = [*scope.nodes[index].input, *scope.captures.get(index, ())]
    return [name for name in names if name]


def part(
    subject: Subject,
    indices: Collection[int],
    inputs: Sequence[str],
    outputs: Sequence[str],
    where: str,
) -> ModelProto:
    """Return a model of some nodes of the main graph, with these inputs and outputs.

    Raises:
        UsageError: The type of an input or output is not known.
    """
    scope, source = subject.scope, subject.proto.graph
    graph = GraphProto(name=source.name, doc_string=source.doc_string)
    graph.metadata_props.extend(source.metadata_props)
    graph.node.extend(scope.nodes[i] for i in sorted(indices))
    read = {*outputs, *(name for i in indices for name in read_by(scope, i))} - set(inputs)
    made = {name for i in indices for name in scope.nodes[i].output if name}
    graph.input.extend(declared(subject, name, where) for name in inputs)
    graph.input.extend(i for i in source.input if i.name in read & scope.overridable)
    graph.output.extend(declared(subject, name, where) for name in outputs)
    graph.initializer.extend(t for t in source.initializer if t.name in read)
    graph.sparse_initializer.extend(t for t in source.sparse_initializer if t.values.name in read)
    ends = {*inputs, *outputs}
    graph.value_info.extend(
        i for i in source.value_info if i.name in made - ends and not _untrue(subject, i)
    )
    graph.quantization_annotation.extend(
        a for a in source.quantization_annotation if a.tensor_name in made | read | ends
    )
    return with_graph(subject.proto, graph)


def declared(subject: Subject, name: str, where: str) -> ValueInfoProto:
    """Return the declaration of a tensor, with all that is known of its type.

    Where the file declares another type than it computes, onnxruntime warns and continues; as an
    input such a declaration would refuse what is computed.

    Raises:
        UsageError: Its type is not known.
    """
    graph = subject.proto.graph
    known = {i.name: i for i in (*graph.value_info, *graph.output, *graph.input)}.get(name)
    if known is not None and _untrue(subject, known):
        known = copied(known)
        known.type.CopyFrom(subject.computed[name])
    if known is not None and is_full(known.type):
        return known
    types = subject.inferred
    if not is_full(types.get(name)):
        types = subject.types
    info = declaration(name, known, types)
    if not info.HasField("type") or not is_full(info.type):
        raise UsageError(f"the type of tensor {name!r} is not known", where=where)
    return info


def _untrue(subject: Subject, info: ValueInfoProto) -> bool:
    """Say whether a declaration contradicts what inference knows from the inputs."""
    computed = subject.computed.get(info.name)
    return computed is not None and contradicts(info.type, computed)


def composed(
    front: ModelProto | None,
    back: ModelProto,
    model: ModelProto,
    outputs: Sequence[ValueInfoProto],
) -> ModelProto:
    """Return one model of two parts of another one, each with nodes of its own.

    Args:
        front: The part that computes inputs of `back`; its outputs bear the names of those. None
            where inputs of the model are all that is needed.
        back: The part that continues.
        model: The model that both are of, whose inputs the whole has.
        outputs: The outputs of the whole, of either part.
    """
    whole = copied(back)
    graph = whole.graph
    if front is not None:
        front = copied(front)
        ends = [i.name for i in (*front.graph.input, *front.graph.output)]
        prefix_all(front, "front/", set(ends))
        nodes = [*front.graph.node, *map(copied, graph.node)]
        graph.ClearField("node")
        graph.node.extend(nodes)
        known = {tensor.name for tensor in graph.initializer}
        graph.initializer.extend(t for t in front.graph.initializer if t.name not in known)
        graph.sparse_initializer.extend(front.graph.sparse_initializer)
        keys = {function_key(f.domain, f.name, f.overload) for f in whole.functions}
        whole.functions.extend(
            f for f in front.functions if function_key(f.domain, f.name, f.overload) not in keys
        )
    stored = stored_names(model.graph) - stored_names(graph)
    graph.ClearField("input")
    graph.input.extend(info for info in model.graph.input if info.name not in stored)
    graph.ClearField("output")
    graph.output.extend(outputs)
    return whole


def stored_names(graph: GraphProto) -> set[str]:
    """Return the names of the stored tensors of a graph."""
    return {t.name for t in graph.initializer} | {t.values.name for t in graph.sparse_initializer}


def without_outputs(subject: Subject, outputs: Sequence[ValueInfoProto]) -> ModelProto:
    """Return the model with these outputs, without what only computed others."""
    scope = subject.scope
    before = needed(scope, scope.outputs)
    gone = before - needed(scope, [info.name for info in outputs])
    lost = {name for index in gone for name in scope.nodes[index].output if name}
    for index in range(len(scope.nodes) if gone else 0):  # what nothing needed may read them
        if index not in before and lost.intersection(read_by(scope, index)):
            gone.add(index)
            lost.update(name for name in scope.nodes[index].output if name)
    proto = copied(subject.proto)
    graph = proto.graph
    kept = [node for index, node in enumerate(graph.node) if index not in gone]
    left = {name for i in gone for name in (*read_by(scope, i), *scope.nodes[i].output)}
    read = {name for node in kept for name in names_read(node)} | {i.name for i in outputs}
    still = read | {name for node in kept for name in node.output}
    unused = {name for name in left - still if name not in scope.inputs}
    _keep(graph, "node", kept)
    _keep(graph, "output", [copied(info) for info in outputs])
    _keep(graph, "input", [i for i in graph.input if i.name not in unused])
    _keep(graph, "initializer", [t for t in graph.initializer if t.name not in unused])
    _keep(
        graph,
        "sparse_initializer",
        [t for t in graph.sparse_initializer if t.values.name not in unused],
    )
    ends = {info.name for info in outputs}
    _keep(graph, "value_info", [i for i in graph.value_info if i.name not in unused | ends])
    _keep(
        graph,
        "quantization_annotation",
        [a for a in graph.quantization_annotation if a.tensor_name not in unused],
    )
    return with_graph(proto, graph) if gone else proto


def branch_of(graph: GraphProto, prefix: str) -> GraphProto:
    """Return the nodes of a main graph as a branch of If, what they compute under other names.

    Args:
        graph: The graph; what it reads and what is stored of it is to be around the branch.
        prefix: What is put before the names of what it computes.
    """
    branch = copied(graph)
    for field in ("input", "initializer", "sparse_initializer", "quantization_annotation"):
        branch.ClearField(field)
    made = {name for node in branch.node for name in node.output if name}
    for info in branch.output:
        if info.name not in made:  # it outputs what it reads
            branch.node.append(helper.make_node("Identity", [info.name], [prefix + info.name]))
            info.name = prefix + info.name
    known = [info for info in branch.value_info if info.name in made]
    branch.ClearField("value_info")
    branch.value_info.extend(known)
    rename_tensors(branch, lambda name, main: prefix + name if main and name in made else name)
    return branch


def stored_input(proto: ModelProto, tensor: TensorProto) -> ModelProto:
    """Return a copy of a model in which an input is a stored tensor of its name."""
    copy = copied(proto)
    _keep(copy.graph, "input", [i for i in copy.graph.input if i.name != tensor.name])
    copy.graph.initializer.append(tensor)
    let_store(copy)
    return copy


def unread(proto: ModelProto) -> list[str]:
    """Return the inputs that nothing reads."""
    read = {name for node in proto.graph.node for name in names_read(node)}
    read |= {info.name for info in proto.graph.output}
    return [info.name for info in proto.graph.input if info.name not in read]


def _keep(graph: GraphProto, field: str, values: Sequence[Any]) -> None:
    kept = [copied(value) for value in values]
    graph.ClearField(field)
    getattr(graph, field).extend(kept)
