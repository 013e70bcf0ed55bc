"""Edits that tie stored weights, such as those of an embedding and a head, and untie them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Unpack

from onnx import ModelProto, NodeProto, TensorProto, helper

from graphfix.difference.contents import Contents
from graphfix.edits.addressing import all_tensors_of, free_name, matching
from graphfix.edits.declaring import Given, Group, option
from graphfix.edits.engine import Edited, How, ModelLike, edit
from graphfix.edits.matrices import is_matrix, transposed, transposes
from graphfix.edits.renaming import rename_ends
from graphfix.edits.step import Equal, Step, Subject
from graphfix.errors import UsageError
from graphfix.ir.protos import copied, names_read, normal_domain
from graphfix.ir.storage.weights import LEAST_SHARED, stored_bytes

_CLAIM = "it computes what the model did"


@dataclass(frozen=True, slots=True)
class Tie:
    """Let stored weights that are equal to others, or to their transpose, be read from those.

    Numbers are equal where their bits are. A Gemm takes the other way to read a matrix, and any
    other node a Transpose of it.

    Attributes:
        name: The weight that stays, or a pattern; of several that are equal, one that a Gather
            reads stays.
    """

    name: str
    option: str = field(default="--tie", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Tie them; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.name}"
        proto = copied(subject.proto)
        left = _weights(proto)
        names = matching(left, self.name, "stored tensor", where)
        looked_up = {n.input[0] for n in proto.graph.node if n.op_type == "Gather"}
        contents = Contents(proto, ModelProto(), (subject.base_dir, ""))
        said: list[str] = []
        spared = 0
        for name in sorted(names, key=lambda name: name not in looked_up):
            for other, same in _equal(contents, left, name) if name in left else ():
                spared += stored_bytes(left[other])
                del left[other]
                (_read_as_it_is if same else _read_transposed)(proto, other, name)
                said.append(f"{other!r} is {name!r}{'' if same else ' transposed'}")
        if not said:
            raise UsageError("no other stored tensor is equal, nor its transpose", where=where)
        said.append(f"{spared} bytes less are stored")
        return Step(proto, tuple(said), (Equal(_CLAIM, subject.proto, proto),))


@option("tie", "WEIGHT", "Store what equals it, transposed too, once.", Group.NODES)
def read_tie(given: Given) -> Tie:
    """Return the edit that a text asks for."""
    return Tie(given.text)


def tie(model: ModelLike, name: str, **how: Unpack[How]) -> Edited:
    """Let weights that are equal to one, or to its transpose, be read from it."""
    return edit(model, [Tie(name)], **how)


@dataclass(frozen=True, slots=True)
class Untie:
    """Give each node that reads a stored weight one of its own, and store its Transposes.

    Attributes:
        name: The weight, or a pattern.
    """

    name: str
    option: str = field(default="--untie", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Untie them; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.name}"
        proto = copied(subject.proto)
        weights = _weights(proto)
        said: list[str] = []
        for name in matching(weights, self.name, "stored tensor", where):
            own = _untied(proto, weights[name], subject.base_dir)
            said += [f"{new!r} is stored for what read {name!r}" for new in own]
        if not said:
            raise UsageError("one node alone reads it", where=where)
        return Step(proto, tuple(said), (Equal(_CLAIM, subject.proto, proto),))


@option("untie", "WEIGHT", "Give each node that reads it its own.", Group.NODES, after="tie")
def read_untie(given: Given) -> Untie:
    """Return the edit that a text asks for."""
    return Untie(given.text)


def untie(model: ModelLike, name: str, **how: Unpack[How]) -> Edited:
    """Give each node that reads a stored weight one of its own."""
    return edit(model, [Untie(name)], **how)


def _weights(proto: ModelProto) -> dict[str, TensorProto]:
    """Return the stored tensors that may be read from another place, by their names."""
    graph = proto.graph
    fixed = {info.name for info in (*graph.input, *graph.output)}
    for annotation in graph.quantization_annotation:
        fixed |= {annotation.tensor_name}
        fixed |= {entry.value for entry in annotation.quant_parameter_tensor_names}
    return {t.name: t for t in graph.initializer if t.name not in fixed}


def _equal(
    contents: Contents, left: Mapping[str, TensorProto], name: str
) -> list[tuple[str, bool]]:
    """Return the other tensors that are equal to one (True) or to its transpose (False)."""
    tensor = left[name]
    found: list[tuple[str, bool]] = []
    for other, each in left.items():
        if other == name or each.data_type != tensor.data_type:
            continue
        if stored_bytes(each) < LEAST_SHARED or each.data_type == TensorProto.STRING:
            continue
        same = list(each.dims) == list(tensor.dims)
        if same and contents.hash(each, 0) == contents.hash(tensor, 0):
            found.append((other, True))
            continue
        turned = is_matrix(tensor) and list(each.dims) == list(tensor.dims)[::-1]
        turned = turned and 1 not in tensor.dims
        if turned and contents.hash(each, 0) == contents.hash_transposed(tensor, 0):
            found.append((other, False))
    return found


def _drop(proto: ModelProto, name: str) -> None:
    """Take a stored tensor and its declaration out, in place."""
    graph = proto.graph
    for tensors in (graph.initializer, graph.value_info):
        for place in reversed(range(len(tensors))):
            if tensors[place].name == name:
                del tensors[place]


def _read_as_it_is(proto: ModelProto, name: str, instead: str) -> None:
    """Let a tensor be read in the place of another one, in place."""
    place = [tensor.name for tensor in proto.graph.initializer].index(name)
    rename_ends(proto, {name: instead})  # two tensors are called so for a moment
    del proto.graph.initializer[place]
    infos = [info.name for info in proto.graph.value_info]
    for at in reversed([at for at, each in enumerate(infos) if each == instead][1:]):
        del proto.graph.value_info[at]


def _read_transposed(proto: ModelProto, name: str, instead: str) -> None:
    """Let the transpose of a tensor be read in the place of another one, in place."""
    _drop(proto, name)
    for node in proto.graph.node:
        if _is(node, "Gemm") and node.input[1] == name:
            turned = any(each.name == "transB" and each.i for each in node.attribute)
            kept = [copied(each) for each in node.attribute if each.name != "transB"]
            kept += [] if turned else [helper.make_attribute("transB", 1)]
            node.ClearField("attribute")
            node.attribute.extend(kept)
            node.input[1] = instead
    if any(name in names_read(node) for node in proto.graph.node):
        made = helper.make_node(
            "Transpose", [instead], [name], name=f"{name}/Transpose", perm=[1, 0]
        )
        proto.graph.node.insert(0, made)


def _untied(proto: ModelProto, tensor: TensorProto, base_dir: str) -> list[str]:
    """Give the nodes that read a stored tensor one each, in place; return the names of new ones."""
    graph, name = proto.graph, tensor.name
    ends = {info.name for info in graph.output}
    readers = [node for node in graph.node if name in names_read(node)]
    stored = [n for n in readers if is_matrix(tensor) and transposes(n) and n.output[0] not in ends]
    others = [node for node in readers if node not in stored]
    # Subgraphs read it where it is.
    others.sort(key=lambda node: name in node.input)
    new: list[TensorProto] = []
    for node in stored if len(readers) > 1 else ():
        new.append(transposed(tensor, base_dir, node.output[0]))
        graph.node.remove(node)
    for node in others[1:]:
        if name not in node.input:
            continue
        own = copied(tensor)
        own.name = free_name(name, all_tensors_of(proto).union(each.name for each in new))
        node.input[:] = [own.name if each == name else each for each in node.input]
        new.append(own)
    if new and not others:
        _drop(proto, name)
    graph.initializer.extend(new)
    return [each.name for each in new]


def _is(node: NodeProto, op: str) -> bool:
    return (node.op_type, normal_domain(node.domain)) == (op, "")
