"""Edits of values: attributes of nodes, and stored weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Unpack

from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from graphfix.edits.addressing import find_nodes
from graphfix.edits.arrays import Array, array_of
from graphfix.edits.declaring import Given, Group, option
from graphfix.edits.engine import Edited, How, ModelLike, edit
from graphfix.edits.step import Runs, SameStructure, Step, Subject
from graphfix.errors import UsageError
from graphfix.ir.addressing import unknown
from graphfix.ir.protos import copied, normal_domain
from graphfix.ir.schemas import decode_attribute, form_of
from graphfix.ir.storage.weights import type_name

_READ: dict[int, Callable[[str], object]] = {
    AttributeProto.INT: int,
    AttributeProto.FLOAT: float,
    AttributeProto.STRING: str,
}
_LISTS: dict[int, Callable[[str], object]] = {
    AttributeProto.INTS: int,
    AttributeProto.FLOATS: float,
    AttributeProto.STRINGS: str,
}


@dataclass(frozen=True, slots=True)
class SetAttribute:
    """Give an attribute of nodes another value.

    Attributes:
        node: The nodes; a name, a pattern, ``op:Mod``, ``index:12``.
        attribute: The attribute.
        value: Its value, as text: ``3``, ``0.5``, ``1,2``, ``linear``.
    """

    node: str
    attribute: str
    value: str
    option: str = field(default="--set", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Set it; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.node}.{self.attribute}={self.value}"
        proto = copied(subject.proto)
        found = find_nodes(proto, self.node, where)
        said: list[str] = []
        for place in found:
            node = place.node
            kind = self._kind(proto, node, where)
            new = helper.make_attribute(self.attribute, self._read(kind, where), attr_type=kind)
            old = [each for each in node.attribute if each.name == self.attribute]
            was = f", it was {_text(old[0])}" if old else ""
            if old:
                old[0].CopyFrom(new)
            else:
                node.attribute.append(new)
            said.append(f"{self.attribute} of {place.text} is {_text(new)}{was}")
        but = frozenset(name for place in found for name in place.node.output[:1])
        return Step(proto, tuple(said), _claims(subject.proto, proto, but))

    def _kind(self, proto: ModelProto, node: NodeProto, where: str) -> int:
        """Return the type of the attribute: as it is written, as the operator has it."""
        names = [each.name for each in node.attribute]
        for each in node.attribute:
            if each.name == self.attribute:
                return each.type
        domain = normal_domain(node.domain)
        versions = {normal_domain(e.domain): e.version for e in proto.opset_import}
        form = form_of(node.op_type, versions.get(domain, 1), domain)
        if form is None:
            raise unknown(f"{node.op_type} with the attribute", self.attribute, names, where)
        known = form.schema.attributes
        if self.attribute not in known:
            raise unknown(f"{node.op_type} with the attribute", self.attribute, known, where)
        return AttributeProto.AttributeType.Value(
            str(known[self.attribute].type).rpartition(".")[2]
        )

    def _read(self, kind: int, where: str) -> Any:
        try:
            if kind in _READ:
                return _READ[kind](self.value)
            if kind in _LISTS:
                return [_LISTS[kind](part) for part in self.value.split(",") if part]
        except ValueError:
            pass
        name = AttributeProto.AttributeType.Name(kind)
        raise UsageError(f"{self.value!r} is no {name}", where=where)


@option("set", "NODE.ATTRIBUTE=VALUE", "Give an attribute another value.", Group.NODES)
def read_set_attribute(given: Given) -> SetAttribute:
    """Return the edit that a text asks for."""
    name, value = given.pair()
    node, dot, attribute = name.rpartition(".")
    if not dot or not node or not attribute:
        raise given.malformed()
    return SetAttribute(node, attribute, value)


def set_attribute(
    model: ModelLike, node: str, attribute: str, value: str, **how: Unpack[How]
) -> Edited:
    """Give an attribute of nodes another value, as text."""
    return edit(model, [SetAttribute(node, attribute, value)], **how)


@dataclass(frozen=True, slots=True)
class SetWeights:
    """Give a stored tensor other values.

    Attributes:
        name: The tensor: an initializer, or what a Constant gives.
        value: An array, ``@file.npy``, or numbers; one number fills the whole shape.
    """

    name: str
    value: str | Array
    option: str = field(default="--weights", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Store them; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.name}"
        proto = copied(subject.proto)
        stored: dict[str, TensorProto] = {t.name: t for t in proto.graph.initializer}
        for node in proto.graph.node:
            for attribute in node.attribute if node.op_type == "Constant" else ():
                if attribute.name == "value":
                    stored[node.output[0]] = attribute.t
        if self.name not in stored:
            raise unknown("stored tensor", self.name, stored, where)
        tensor = stored[self.name]
        array = array_of(self.value, tensor.data_type, list(tensor.dims), where)
        new = numpy_helper.from_array(array, tensor.name)
        new.data_type = tensor.data_type
        new.doc_string = tensor.doc_string
        tensor.CopyFrom(new)
        said = f"{self.name!r} has other values, {type_name(new.data_type)}{list(array.shape)}"
        return Step(proto, (said,), _claims(subject.proto, proto, frozenset({self.name})))


@option("weights", "NAME=@FILE.npy", "Give a stored tensor other values.", Group.NODES)
def read_set_weights(given: Given) -> SetWeights:
    """Return the edit that a text asks for."""
    return SetWeights(*given.pair())


def set_weights(model: ModelLike, name: str, value: str | Array, **how: Unpack[How]) -> Edited:
    """Give a stored tensor other values."""
    return edit(model, [SetWeights(name, value)], **how)


def _claims(
    before: ModelProto, after: ModelProto, but: frozenset[str]
) -> tuple[SameStructure, Runs]:
    return (SameStructure(before, after, but), Runs("it runs", after, before))


def _text(attribute: AttributeProto) -> str:
    return str(decode_attribute(attribute))
