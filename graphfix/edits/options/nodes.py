"""Edits of nodes: taken out, put in, replaced by a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Unpack

from onnx import GraphProto, ModelProto, NodeProto, TypeProto

from graphfix.difference.renaming import rename_tensors
from graphfix.edits.addressing import Place, find_nodes, find_tensor, graphs_of, tensors_of
from graphfix.edits.declaring import Given, Group, option
from graphfix.edits.engine import Edited, How, ModelLike, edit
from graphfix.edits.function_files import calling, read_function
from graphfix.edits.inner_models import InnerModel
from graphfix.edits.merging import check_fits
from graphfix.edits.outside import DOMAIN, NUMPY, with_import
from graphfix.edits.parts import declared
from graphfix.edits.renaming import rename_ends
from graphfix.edits.step import Equal, Step, Subject
from graphfix.errors import UsageError
from graphfix.ir.model import Model
from graphfix.ir.protos import copied, normal_domain
from graphfix.ir.schemas import form_of


@dataclass(frozen=True, slots=True)
class Delete:
    """Take nodes out: what read their output reads their input.

    Attributes:
        node: The node; a name, a pattern, ``op:Dropout``, ``index:12``.
    """

    node: str
    option: str = field(default="--delete", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Bypass them; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.node}"
        proto, reference = copied(subject.proto), copied(subject.proto)
        said: list[str] = []
        for place in find_nodes(reference, self.node, where):
            source = _bypass(subject, place, where)
            said.append(f"{place.text} is gone; {source!r} stands for {place.node.output[0]!r}")
            node = place.node
            node.op_type, node.domain = "Pass", DOMAIN
            node.input[:] = [source]
            del node.output[1:]
            node.ClearField("attribute")
        for place in find_nodes(proto, self.node, where):
            _take_out(proto, place, _bypass(subject, place, where))
        claim = Equal(
            "it computes what the model does where numpy hands the inputs of these nodes on",
            proto,
            with_import(reference),
            NUMPY,
            made_first=True,
        )
        return Step(proto, tuple(said), (claim,))


@option("delete", "NODE", "Take a node out; what read its output reads its input.", Group.NODES)
def read_delete(given: Given) -> Delete:
    """Return the edit that a text asks for."""
    return Delete(given.text)


def delete(model: ModelLike, node: str, **how: Unpack[How]) -> Edited:
    """Take nodes out: what read their output reads their input."""
    return edit(model, [Delete(node)], **how)


@dataclass(frozen=True, slots=True)
class Insert:
    """Put a model of one input and one output after a tensor, before all that reads it.

    Attributes:
        tensor: The tensor.
        path: The file of the model.
    """

    tensor: str
    path: Path
    option: str = field(default="--insert", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Put it there; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.tensor}={self.path}"
        name = find_tensor(subject.proto, self.tensor, where)
        inner = _inner(self.path, subject, where)
        if (len(inner.inputs), len(inner.outputs)) != (1, 1):
            raise UsageError(
                f"{self.path} has {len(inner.inputs)} inputs and {len(inner.outputs)} outputs, "
                "not one of each",
                where=where,
            )
        kind = declared(subject, name, where).type
        check_fits(kind, inner.inputs[0].type, f"tensor {name!r}", where)
        check_fits(inner.outputs[0].type, kind, f"the output of {self.path}", where)
        proto, reference = copied(subject.proto), copied(subject.proto)
        for model in (proto, reference):
            source, target = _opened_at(model, name)
            if model is proto:
                new = inner.put_into(model, [source], [target])
            else:
                new = [inner.outside([source], [target])]
            _put_nodes(model.graph, new, source)
        said = f"{self.path} is between {name!r} and what reads it"
        return Step(proto, (said,), (_as_run(proto, reference, inner),))


@option("insert", "TENSOR=sub.onnx", "Put a model between a tensor and what reads it.", Group.NODES)
def read_insert(given: Given) -> Insert:
    """Return the edit that a text asks for."""
    tensor, path = given.pair()
    return Insert(tensor, Path(path))


def insert(model: ModelLike, tensor: str, path: str | Path, **how: Unpack[How]) -> Edited:
    """Put the model of a file between a tensor and what reads it."""
    return edit(model, [Insert(tensor, Path(path))], **how)


@dataclass(frozen=True, slots=True)
class Replace:
    """Put a model in the place of nodes of the main graph.

    Attributes:
        node: The nodes; a name, a pattern, ``op:Mod``, ``index:12``.
        path: The file of the model, or of a FunctionProto. Its inputs are those of the node, by
            name where all are called as tensors of the node are, otherwise by place; so are its
            outputs.
        option: The option that asks for it.
    """

    node: str
    path: Path
    option: str = "--replace"

    def apply(self, subject: Subject) -> Step:
        """Put it there; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.node.removeprefix('op:')}={self.path}"
        found = find_nodes(subject.proto, self.node, where)
        inner = _inner(self.path, subject, where, found)
        proto, reference = copied(subject.proto), copied(subject.proto)
        said: list[str] = []
        for place in found:
            if place.graph is not subject.proto.graph:
                raise UsageError(f"{place.text} is in a body or function", where=where)
            fed, read = self._wires(subject, place, inner, where)
            said.append(f"{place.text} is what {self.path} computes")
            for model in (proto, reference):
                new = (
                    inner.put_into(model, fed, read)
                    if model is proto
                    else [inner.outside(fed, read)]
                )
                _replace_node(model.graph, place.node, new)
        return Step(proto, tuple(said), (_as_run(proto, reference, inner),))

    def _wires(
        self, subject: Subject, place: Place, inner: InnerModel, where: str
    ) -> tuple[list[str], list[str]]:
        """Return what feeds each input of the model, and what its outputs are called."""
        node = place.node
        wanted, given = [i.name for i in inner.inputs], [name for name in node.input if name]
        fed = wanted if set(wanted) <= set(given) else given[: len(wanted)]
        if len(fed) < len(wanted):
            raise UsageError(
                f"{place.text} has {len(given)} inputs, {self.path} {len(wanted)}", where=where
            )
        outputs = [info.name for info in inner.outputs]
        used = [name for name in node.output if name and _is_read(subject, name)]
        by_name = set(used) <= set(outputs)
        read = [n if n in used else "" for n in outputs] if by_name else list(node.output)
        if len([name for name in read[: len(outputs)] if name in used]) < len(used):
            raise UsageError(
                f"{place.text} has {len(used)} outputs that are read, {self.path} {len(outputs)}",
                where=where,
            )
        for info, name in zip(inner.inputs, fed, strict=True):
            if name not in subject.scope.stored:
                check_fits(declared(subject, name, where).type, info.type, repr(name), where)
        for info, name in zip(inner.outputs, read, strict=False):
            if name in used:
                what = f"{info.name!r} of {self.path}"
                check_fits(info.type, declared(subject, name, where).type, what, where)
        return fed, [name if name in used else "" for name in read[: len(outputs)]]


@option("replace", "NODE=sub.onnx", "Put a model in the place of a node.", Group.NODES)
def read_replace(given: Given) -> Replace:
    """Return the edit that a text asks for."""
    node, path = given.pair()
    return Replace(node, Path(path))


def replace(model: ModelLike, node: str, path: str | Path, **how: Unpack[How]) -> Edited:
    """Put the model of a file in the place of nodes."""
    return edit(model, [Replace(node, Path(path))], **how)


@option(
    "replace-op",
    "[DOMAIN::]OP=sub.onnx",
    "The same for every node of an operator.",
    Group.NODES,
    long_form="DOMAIN::OP=sub.onnx",
)
def read_replace_op(given: Given) -> Replace:
    """Return the edit that a text asks for."""
    operator, path = given.pair()
    return Replace(f"op:{operator}", Path(path), given.option)


def replace_op(model: ModelLike, operator: str, path: str | Path, **how: Unpack[How]) -> Edited:
    """Put the model of a file in the place of every node of an operator, ``[DOMAIN::]OP``."""
    return edit(model, [Replace(f"op:{operator}", Path(path), "--replace-op")], **how)


def _inner(path: Path, subject: Subject, where: str, places: Sequence[Place] = ()) -> InnerModel:
    """Return what a file holds: a model, or a function, which takes what the nodes take."""
    opset = Model(subject.proto, base_dir=subject.base_dir).opset
    function = read_function(path) if places else None
    if function is None:
        return InnerModel(path, subject, opset, where)
    kinds = _kinds_read(subject, places[0], where)
    for place in places[1:]:
        if _kinds_read(subject, place, where) != kinds:
            text = f"{place.text} reads other types than {places[0].text}"
            raise UsageError(text, where=where, hint="replace them one by one")
    return InnerModel(path, subject, opset, where, calling(function, kinds, where))


def _kinds_read(subject: Subject, place: Place, where: str) -> list[TypeProto]:
    """Return the element types of what a node reads."""
    elements = {t.name: t.data_type for t in subject.proto.graph.initializer}
    found: list[TypeProto] = []
    for name in filter(None, place.node.input):
        known = subject.types.get(name)
        element = elements.get(name) or (known.tensor_type.elem_type if known is not None else 0)
        if not element:
            raise UsageError(f"the type of {name!r} is not known", where=where)
        kind = TypeProto()
        kind.tensor_type.elem_type = element
        found.append(kind)
    return found


def _as_run(proto: ModelProto, reference: ModelProto, inner: InnerModel) -> Equal:
    text = "it computes what the model does that runs the other file there"
    reference = with_import(reference)
    return Equal(text, proto, reference, NUMPY, made_first=True, adjacent=inner.adjacent)


def _is_read(subject: Subject, name: str) -> bool:
    return bool(subject.scope.readers.get(name)) or name in subject.scope.outputs


def _bypass(subject: Subject, place: Place, where: str) -> str:
    """Return the input that may stand for the output of a node."""
    node, types = place.node, subject.inferred
    used = [name for name in node.output[1:] if name and _is_read(subject, name)]
    if used:
        raise UsageError(f"{place.text} has a second output {used[0]!r} that is read", where=where)
    wanted = types.get(node.output[0])
    fed = [name for name in node.input if name and name not in subject.scope.stored]
    if wanted is None and len(fed) == 1 and _is_foreign(subject, place):
        return fed[0]  # nothing is known of its output but what reads it, which is checked after
    if wanted is None:
        raise UsageError(f"the type of {node.output[0]!r} is not known", where=where)
    reasons: list[str] = []
    for name in fed:
        known = types.get(name)
        if known is None:
            reasons.append(f"the type of {name!r} is not known")
            continue
        try:
            check_fits(known, wanted, repr(name), where)
        except UsageError as error:
            reasons.append(error.message)
            continue
        return name
    text = reasons[0] if reasons else "it reads no other tensor"
    raise UsageError(
        f"nothing can stand for {node.output[0]!r} of {place.text}: {text}", where=where
    )


def _is_foreign(subject: Subject, place: Place) -> bool:
    """Say whether a node of the main graph is of an operator that ONNX does not know."""
    proto, domain = subject.proto, normal_domain(place.node.domain)
    if place.graph is not place.root or not isinstance(place.graph, GraphProto):
        return False
    versions = {normal_domain(e.domain): e.version for e in proto.opset_import}
    known = form_of(place.node.op_type, versions.get(domain, 1), domain) is not None
    return not known and all(f.name != place.node.op_type for f in proto.functions)


def _take_out(proto: ModelProto, place: Place, source: str) -> None:
    """Remove a node; where its output leaves the graph, an Identity stays."""
    graph, node = place.graph, place.node
    target = node.output[0]
    ends = {info.name for info in graph.output} if isinstance(graph, GraphProto) else set[str]()
    if target in ends or not isinstance(graph, GraphProto):
        node.op_type, node.domain = "Identity", ""
        node.input[:] = [source]
        node.output[:] = [target]
        node.ClearField("attribute")
        return
    for part in ("value_info", "quantization_annotation"):
        kept = [
            copied(entry)
            for entry in getattr(graph, part)
            if getattr(entry, "name", "") != target and getattr(entry, "tensor_name", "") != target
        ]
        graph.ClearField(part)
        getattr(graph, part).extend(kept)
    output = list(node.output)
    rename_tensors(graph, lambda name, main: source if main and name == target else name)
    gone = next(
        i
        for i, each in enumerate(graph.node)
        if list(each.output) == [source, *output[1:]] and source in each.input
    )
    del graph.node[gone]


def _opened_at(proto: ModelProto, name: str) -> tuple[str, str]:
    """Part a tensor from what reads it; return its name and what is read in its place."""
    graph = proto.graph
    taken = {n for each in graphs_of(graph) for n in tensors_of(each)}
    inner = f"{name}_inner"
    while any(each.startswith(inner) for each in taken):
        inner += "_"
    made = any(name in node.output for node in graph.node)
    if made:  # the new name goes to what computes it, so that outputs keep theirs
        for node in graph.node:
            node.output[:] = [inner if each == name else each for each in node.output]
        return inner, name
    outputs = {info.name for info in graph.output}
    rename_ends(proto, {name: inner})
    for infos in (graph.input, graph.initializer):
        for info in infos:
            info.name = name if info.name == inner else info.name
    for info in graph.output:
        if info.name == inner and name in outputs:
            raise UsageError(f"{name!r} is an output too", where="--insert")
    return name, inner


def _put_nodes(graph: GraphProto, new: Sequence[NodeProto], source: str) -> None:
    """Put nodes after what computes a tensor."""
    old = [copied(node) for node in graph.node]
    place = next((i + 1 for i, node in enumerate(old) if source in node.output), 0)
    graph.ClearField("node")
    graph.node.extend([*old[:place], *new, *old[place:]])


def _replace_node(graph: GraphProto, node: NodeProto, new: Sequence[NodeProto]) -> None:
    old = [copied(each) for each in graph.node]
    place = next(i for i, each in enumerate(old) if list(each.output) == list(node.output))
    graph.ClearField("node")
    graph.node.extend([*old[:place], *new, *old[place + 1 :]])
