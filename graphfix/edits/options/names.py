"""Edits of names: of tensors, of nodes, and of everything by a prefix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from re import fullmatch
from typing import Unpack

from onnx import FunctionProto, GraphProto, ModelProto

from graphfix.edits.addressing import find_nodes, find_tensor, graphs_of, places, roots, tensors_of
from graphfix.edits.declaring import Given, Group, option
from graphfix.edits.engine import Edited, How, ModelLike, edit
from graphfix.edits.renaming import (
    prefix_all,
    rename_inner,
    rename_main,
    restored_ends,
)
from graphfix.edits.step import Claim, Equal, Named, SameStructure, Step, Subject
from graphfix.errors import UsageError
from graphfix.ir.addressing import is_pattern, unknown
from graphfix.ir.protos import copied


@dataclass(frozen=True, slots=True)
class Rename:
    """Give tensors another name: inputs, outputs and inner ones, of subgraphs and functions too.

    Attributes:
        old: The tensor; a name, or a pattern with one ``*`` for what the new name keeps.
        new: Its new name; with a ``*`` where the old one has it.
    """

    old: str
    new: str
    option: str = field(default="--rename", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Rename in a copy; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.old}={self.new}"
        proto = copied(subject.proto)
        said: list[str] = []
        main = self._chosen(proto.graph, where)
        if not main and self.old.startswith(("op:", "index:")):
            main = {find_tensor(proto, self.old, where): self.new}
        if main:
            rename_main(proto, main, where)
            said += [f"tensor {old!r} is called {new!r}" for old, new in main.items()]
        else:
            for root in roots(proto):
                inner: dict[str, str] = {}
                for graph in graphs_of(root):
                    inner |= self._chosen(graph, where)
                if inner:
                    rename_inner(root, inner, where)
                    place = f" of {root.name}" if isinstance(root, FunctionProto) else ""
                    said += [f"tensor {a!r}{place} is called {b!r}" for a, b in inner.items()]
        if not said:
            known = [name for graph in _graphs(proto) for name in tensors_of(graph)]
            raise unknown("tensor", self.old, known, where)
        return Step(proto, tuple(said), _claims(subject.proto, proto, "tensors"))

    def _chosen(self, graph: GraphProto | FunctionProto, where: str) -> dict[str, str]:
        """Return the new names of the tensors that a graph defines itself."""
        return _new_names(tensors_of(graph), self.old, self.new, where)


@option("rename", "OLD=NEW", "Rename a tensor: an input, an output or an inner one.", Group.NAMES)
def read_rename(given: Given) -> Rename:
    """Return the edit that a text asks for."""
    return Rename(*given.pair())


def rename(model: ModelLike, old: str, new: str, **how: Unpack[How]) -> Edited:
    """Rename a tensor, or those that a pattern with one ``*`` matches."""
    return edit(model, [Rename(old, new)], **how)


@dataclass(frozen=True, slots=True)
class RenameNode:
    """Give nodes another name.

    Attributes:
        old: The node; a name, ``op:Mod``, ``index:12``, or a pattern with one ``*``.
        new: Its new name.
    """

    old: str
    new: str
    option: str = field(default="--rename-node", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Rename in a copy; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.old}={self.new}"
        proto = copied(subject.proto)
        found = find_nodes(proto, self.old, where)
        names = _new_names([p.node.name for p in found], self.old, self.new, where)
        if not names and len(found) > 1:
            raise UsageError(f"{self.old!r} names {len(found)} nodes", where=where)
        if not self.new:
            raise UsageError("the new name is empty", where=where)
        new = [names.get(place.node.name, self.new) for place in found]
        others = {p.node.name for p in places(proto)} - {p.node.name for p in found}
        for name in new:
            if name in others or new.count(name) > 1:
                raise UsageError(f"a node is called {name!r} already", where=where)
        said: list[str] = []
        for place, name in zip(found, new, strict=True):
            said.append(f"{place.text} is called {name!r}")
            place.node.name = name
        return Step(proto, tuple(said), _claims(subject.proto, proto, "nodes"))


@option("rename-node", "OLD=NEW", "Rename a node.", Group.NAMES)
def read_rename_node(given: Given) -> RenameNode:
    """Return the edit that a text asks for."""
    return RenameNode(*given.pair())


def rename_node(model: ModelLike, old: str, new: str, **how: Unpack[How]) -> Edited:
    """Rename a node."""
    return edit(model, [RenameNode(old, new)], **how)


@dataclass(frozen=True, slots=True)
class Prefix:
    """Put a prefix before every name but those of inputs, outputs and operators.

    Attributes:
        prefix: What comes before the names of nodes and inner tensors, subgraphs and functions
            included.
    """

    prefix: str
    option: str = field(default="--prefix", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Rename in a copy; see `graphfix.edits.step.Edit`."""
        if not self.prefix:
            raise UsageError("the prefix is empty", where=self.option)
        proto = copied(subject.proto)
        graph = proto.graph
        kept = {info.name for info in (*graph.input, *graph.output)}
        count = prefix_all(proto, self.prefix, kept)
        said = f"{count} names of nodes and tensors begin with {self.prefix!r}"
        return Step(proto, (said,), _claims(subject.proto, proto, "nodes", "tensors"))


@option("prefix", "TEXT", "Put TEXT before the names of all nodes and inner tensors.", Group.NAMES)
def read_prefix(given: Given) -> Prefix:
    """Return the edit that a text asks for."""
    return Prefix(given.text)


def prefix(model: ModelLike, text: str, **how: Unpack[How]) -> Edited:
    """Put a prefix before the names of all nodes and inner tensors."""
    return edit(model, [Prefix(text)], **how)


def _graphs(proto: ModelProto) -> list[GraphProto | FunctionProto]:
    return [graph for root in roots(proto) for graph in graphs_of(root)]


def _new_names(
    known: Mapping[str, None] | list[str], old: str, new: str, where: str
) -> dict[str, str]:
    """Return the new names of those that are `old`, or match it."""
    if old in known:
        return {old: new}
    if not is_pattern(old):
        return {}
    names = [name for name in known if fullmatch(translate(old), name)]
    if not names:
        return {}
    if old.count("*") != 1 or new.count("*") != 1 or set("?[") & set(old):
        raise UsageError(
            "a pattern of names has one *, and so has the new name", where=where, hint="a*=b*"
        )
    head, _, tail = old.partition("*")
    return {name: new.replace("*", name[len(head) : len(name) - len(tail)]) for name in names}


def _claims(before: ModelProto, after: ModelProto, *renamed: Named) -> tuple[Claim, ...]:
    text = "the outputs are those of the model as it was"
    same = SameStructure(before, after, renamed=frozenset(renamed))
    return (same, Equal(text, before, restored_ends(after, before)))
