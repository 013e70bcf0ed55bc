"""Edits that cut: a part taken out, and a model cut in two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Unpack

from onnx import ModelProto

from graphfix.edits.addressing import find_tensor
from graphfix.edits.declaring import Given, Group, option
from graphfix.edits.engine import Edited, How, ModelLike, edit
from graphfix.edits.parts import composed, needed, part, read_by
from graphfix.edits.step import Equal, Step, Subject
from graphfix.errors import UsageError
from graphfix.ir.protos import add_outputs


@dataclass(frozen=True, slots=True)
class Extract:
    """Take out what computes some tensors from others.

    Attributes:
        inputs: The tensors that it begins at, the new inputs; inner ones or inputs.
        outputs: The tensors that it computes, the new outputs.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    option: str = field(default="--extract", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Return the part; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {','.join(self.inputs)}:{','.join(self.outputs)}"
        proto, scope = subject.proto, subject.scope
        inputs = _found(subject, self.inputs, where)
        outputs = _found(subject, self.outputs, where)
        for name in inputs:
            if name in scope.stored:
                raise UsageError(f"{name!r} is a stored weight, no value to begin at", where=where)
        for name in outputs:
            if name not in scope.makers or name in inputs:
                raise UsageError(f"no node of the part computes {name!r}", where=where)
        nodes = needed(scope, outputs, inputs)
        read = {name for index in nodes for name in read_by(scope, index)}
        missing = [n for n in scope.inputs if n in read and n not in inputs]
        if missing:
            raise UsageError(
                f"{', '.join(outputs)} is computed from input {missing[0]!r} too",
                where=where,
                hint=f"begin at {','.join((*inputs, *missing))}",
            )
        for name in inputs:
            if name not in read:
                raise UsageError(f"{', '.join(outputs)} does not depend on {name!r}", where=where)
        taken = part(subject, nodes, inputs, outputs, where)
        said = f"{len(nodes)} of {len(scope.nodes)} nodes, from {', '.join(inputs)} to "
        front = _front(subject, inputs, where)
        claim = Equal(
            "fed with what the model computes at its beginning, it gives what the model computes",
            _asked_for(proto, outputs),
            composed(front, taken, proto, taken.graph.output),
        )
        return Step(taken, (said + ", ".join(outputs),), (claim,))


def _nodes(number: int) -> str:
    return f"{number} node{'s' * (number != 1)}"


@option("extract", "IN,IN:OUT,OUT", "Take out what computes tensors from others.", Group.PARTS)
def read_extract(given: Given) -> Extract:
    """Return the edit that a text asks for."""
    inputs, outputs = given.between()
    return Extract(tuple(inputs), tuple(outputs))


def extract(
    model: ModelLike, begin: Sequence[str], end: Sequence[str], **how: Unpack[How]
) -> Edited:
    """Take out what computes the tensors of `end` from those of `begin`."""
    return edit(model, [Extract(tuple(begin), tuple(end))], **how)


@dataclass(frozen=True, slots=True)
class Split:
    """Cut a model in two at some tensors.

    Attributes:
        tensors: Where: what the front computes and the back is fed with.
        front: The file of the front.
        back: The file of the back.
    """

    tensors: tuple[str, ...]
    front: Path
    back: Path
    option: str = field(default="--split", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Return both parts next to the model; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {','.join(self.tensors)}={self.front},{self.back}"
        scope = subject.scope
        tensors = _found(subject, self.tensors, where)
        for name in tensors:
            if name not in scope.makers:
                raise UsageError(f"no node computes {name!r}", where=where)
        if self.front == self.back:
            raise UsageError("both parts would go to one file", where=where)
        first = needed(scope, tensors)
        second = set(range(len(scope.nodes))) - first
        made = {name for index in first for name in scope.nodes[index].output if name}
        read = {name: None for index in sorted(second) for name in read_by(scope, index)}
        crossing = [name for name in read if name in made and name not in tensors]
        if crossing:
            raise UsageError(
                f"{', '.join(map(repr, crossing[:5]))} of the front is read after the cut too",
                where=where,
                hint=f"cut at {','.join((*tensors, *crossing[:5]))}",
            )
        if not second:
            raise UsageError("no node is left for the back", where=where)
        early = [name for name in scope.outputs if name in made and name not in tensors]
        late = [name for name in scope.outputs if name not in made]  # inputs and weights as well
        inputs = [n for n in scope.inputs if any(n in read_by(scope, i) for i in first)]
        others = [name for name in scope.inputs if name in read or name in late]
        used = [name for name in tensors if name in read]
        front = part(subject, first, inputs, [*tensors, *early], where)
        back = part(subject, second, [*used, *others], late, where)
        claim = Equal(
            "the front and then the back give what the model computes",
            subject.proto,
            composed(front, back, subject.proto, subject.proto.graph.output),
        )
        said = (
            f"{_nodes(len(first))} up to {', '.join(tensors)} for {self.front}",
            f"{_nodes(len(second))} for {self.back}",
        )
        return Step(subject.proto, said, (claim,), {self.front: front, self.back: back})


@option(
    "split",
    "T,T=front.onnx,back.onnx",
    "Cut in two at tensors; needs no -o.",
    Group.PARTS,
    long_form="TENSOR,TENSOR=front.onnx,back.onnx",
    splits=True,
)
def read_split(given: Given) -> Split:
    """Return the edit that a text asks for."""
    tensors, front, back = given.before_two_files()
    return Split(given.listed(tensors), front, back)


def split(
    model: ModelLike,
    tensors: Sequence[str],
    front: str | Path,
    back: str | Path,
    **how: Unpack[How],
) -> Edited:
    """Cut a model in two at some tensors; ``parts`` of the result has both, nothing is written."""
    return edit(model, [Split(tuple(tensors), Path(front), Path(back))], **how)


def _found(subject: Subject, addresses: Sequence[str], where: str) -> list[str]:
    names = [find_tensor(subject.proto, address, where) for address in addresses]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{name!r} is named twice", where=where)
    return names


def _front(subject: Subject, inputs: Sequence[str], where: str) -> ModelProto | None:
    """Return what computes the inputs of a part; None where they are the model's own."""
    scope = subject.scope
    inner = [name for name in inputs if name in scope.makers]
    if not inner:
        return None
    nodes = needed(scope, inner)
    read = {name for index in nodes for name in read_by(scope, index)}
    given = [n for n in scope.inputs if n in read or n in inputs]
    return part(subject, nodes, given, inner, where)


def _asked_for(proto: ModelProto, names: Sequence[str]) -> ModelProto:
    """Return the model with other outputs, and nothing else changed."""
    copy = ModelProto()
    copy.CopyFrom(proto)
    known = {info.name: info for info in (*proto.graph.output, *proto.graph.value_info)}
    copy.graph.ClearField("output")
    for name in names:
        if name in known:
            copy.graph.output.add().CopyFrom(known[name])
        else:
            add_outputs(copy.graph, [name])
    return copy
