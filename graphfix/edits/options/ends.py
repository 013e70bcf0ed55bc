"""Edits of what a model takes and gives: outputs kept, dropped and added, inputs dropped, order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Unpack

import numpy as np
from onnx import ModelProto, TensorProto, ValueInfoProto, numpy_helper

from graphfix.edits.addressing import find_tensors, matching
from graphfix.edits.arrays import Array, array_of
from graphfix.edits.declaring import Given, Group, option
from graphfix.edits.engine import Edited, How, ModelLike, edit
from graphfix.edits.outside import NUMPY, fed_with
from graphfix.edits.parts import declared, stored_input, unread, without_outputs
from graphfix.edits.step import Equal, Step, Subject
from graphfix.errors import UsageError
from graphfix.ir.protos import add_outputs, copied
from graphfix.ir.storage.weights import type_name


@dataclass(frozen=True, slots=True)
class KeepOutputs:
    """Keep these outputs, in this order, and drop all others with what only they need.

    Attributes:
        names: Names or patterns of outputs.
    """

    names: tuple[str, ...]
    option: str = field(default="--keep-outputs", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Drop the others; see `graphfix.edits.step.Edit`."""
        known = {info.name: info for info in subject.proto.graph.output}
        kept = _matching_each(known, self.names, "output", self.option)
        return with_outputs(subject, [known[name] for name in kept])


@option(
    "keep-outputs",
    "A,B",
    "Drop all other outputs, and what only they need.",
    Group.ENDS,
    after="drop-output",
)
def read_keep_outputs(given: Given) -> KeepOutputs:
    """Return the edit that a text asks for."""
    return KeepOutputs(given.listed())


def keep_outputs(model: ModelLike, names: Sequence[str], **how: Unpack[How]) -> Edited:
    """Drop all other outputs, and what only they need."""
    return edit(model, [KeepOutputs(tuple(names))], **how)


@dataclass(frozen=True, slots=True)
class DropOutput:
    """Drop outputs with what only they need.

    Attributes:
        name: A name or a pattern of outputs.
    """

    name: str
    option: str = field(default="--drop-output", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Drop them; see `graphfix.edits.step.Edit`."""
        known = {info.name: info for info in subject.proto.graph.output}
        gone = matching(known, self.name, "output", self.option)
        left = [info for name, info in known.items() if name not in gone]
        if not left:
            raise UsageError("no output would be left", where=f"{self.option} {self.name}")
        return with_outputs(subject, left)


@option(
    "drop-output", "NAME", "Drop an output, and what only it needs.", Group.ENDS, after="add-output"
)
def read_drop_output(given: Given) -> DropOutput:
    """Return the edit that a text asks for."""
    return DropOutput(given.text)


def drop_output(model: ModelLike, name: str, **how: Unpack[How]) -> Edited:
    """Drop an output, and what only it needs."""
    return edit(model, [DropOutput(name)], **how)


@dataclass(frozen=True, slots=True)
class AddOutput:
    """Give inner tensors out as well.

    Attributes:
        tensor: A tensor of the main graph; a name, a pattern, ``op:Mod``, ``index:12``.
    """

    tensor: str
    option: str = field(default="--add-output", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Add them; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.tensor}"
        outputs = list(subject.proto.graph.output)
        there = {info.name for info in outputs}
        found = find_tensors(subject.proto, self.tensor, where)
        new = [name for name in found if name in subject.scope.makers and name not in there]
        if not new:
            if found[0] in there:
                raise UsageError(f"{found[0]!r} is an output already", where=where)
            raise UsageError(f"no node computes {found[0]!r}", where=where)
        infos = [declared(subject, name, where) for name in new]
        proto = copied(subject.proto)
        proto.graph.output.extend(infos)
        kept = [info for info in proto.graph.value_info if info.name not in new]
        proto.graph.ClearField("value_info")
        proto.graph.value_info.extend(kept)
        before = copied(subject.proto)
        add_outputs(before.graph, new)
        said = tuple(f"tensor {name!r} is an output" for name in new)
        return Step(proto, said, (_equal(before, proto),))


@option("add-output", "TENSOR", "Expose an inner tensor as a graph output.", Group.ENDS)
def read_add_output(given: Given) -> AddOutput:
    """Return the edit that a text asks for."""
    return AddOutput(given.text)


def add_output(model: ModelLike, tensor: str, **how: Unpack[How]) -> Edited:
    """Give an inner tensor out as well."""
    return edit(model, [AddOutput(tensor)], **how)


@dataclass(frozen=True, slots=True)
class ReorderInputs:
    """Put the inputs into another order.

    Attributes:
        names: The inputs; those that are not named come after them in the order they had.
    """

    names: tuple[str, ...]
    option: str = field(default="--reorder-inputs", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Reorder them; see `graphfix.edits.step.Edit`."""
        return _in_order(subject, "input", self.names, self.option)


@option("reorder-inputs", "A,B", "Put inputs first, in this order.", Group.ENDS)
def read_reorder_inputs(given: Given) -> ReorderInputs:
    """Return the edit that a text asks for."""
    return ReorderInputs(given.listed())


def reorder_inputs(model: ModelLike, names: Sequence[str], **how: Unpack[How]) -> Edited:
    """Put inputs first, in this order."""
    return edit(model, [ReorderInputs(tuple(names))], **how)


@dataclass(frozen=True, slots=True)
class ReorderOutputs:
    """Put the outputs into another order.

    Attributes:
        names: The outputs; those that are not named come after them in the order they had.
    """

    names: tuple[str, ...]
    option: str = field(default="--reorder-outputs", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Reorder them; see `graphfix.edits.step.Edit`."""
        return _in_order(subject, "output", self.names, self.option)


@option("reorder-outputs", "A,B", "Put outputs first, in this order.", Group.ENDS)
def read_reorder_outputs(given: Given) -> ReorderOutputs:
    """Return the edit that a text asks for."""
    return ReorderOutputs(given.listed())


def reorder_outputs(model: ModelLike, names: Sequence[str], **how: Unpack[How]) -> Edited:
    """Put outputs first, in this order."""
    return edit(model, [ReorderOutputs(tuple(names))], **how)


@dataclass(frozen=True, slots=True)
class DropInput:
    """Drop an input: nothing reads it, or it has a value from now on.

    Attributes:
        name: The input.
        value: Its value: numbers ``1``, ``0.5,0.25``, or ``@file.npy``; None where nothing reads
            the input. One number fills the whole shape.
    """

    name: str
    value: str | np.ndarray[tuple[int, ...], np.dtype[np.generic]] | None = None
    option: str = field(default="--drop-input", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Put the value in its place; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.name}"
        known = {info.name: info for info in subject.proto.graph.input}
        (name,) = matching(known, self.name, "input", where)[:1]
        kept = [info for info in subject.proto.graph.input if info.name != name]
        if name in subject.scope.stored:
            return self._for_good(subject, name, kept, where)
        if name in unread(subject.proto):
            proto = copied(subject.proto)
            _put(proto, "input", kept)
            before = copied(subject.proto)
            _put(before, "input", kept)
            return Step(
                proto, (f"input {name!r}, which nothing reads, is gone",), (_equal(before, proto),)
            )
        if self.value is None:
            raise UsageError(
                f"input {name!r} is read", where=where, hint=f"give it a value: {name}=0"
            )
        tensor = _value(known[name], self.value, where)
        proto = stored_input(subject.proto, tensor)
        array = numpy_helper.to_array(tensor)
        said = f"input {name!r} is {type_name(tensor.data_type)}{list(array.shape)}, stored"
        text = "the outputs are those of the model as it was, fed with that value"
        claim = Equal(
            text,
            fed_with(subject.proto, tensor, kept),
            proto,
            numpy=NUMPY,
        )
        return Step(proto, (said,), (claim,))

    def _for_good(
        self, subject: Subject, name: str, kept: Sequence[ValueInfoProto], where: str
    ) -> Step:
        """Let no caller feed what is stored any more."""
        found = [t for t in subject.proto.graph.initializer if t.name == name]
        if self.value is not None or not found or subject.proto.ir_version < 4:
            raise UsageError(f"{name!r} has a value already", where=where)
        array = numpy_helper.to_array(found[0], subject.base_dir)
        proto, before = copied(subject.proto), copied(subject.proto)
        _put(proto, "input", kept)
        before.graph.initializer.remove(found[0])
        claim = Equal(
            "the outputs are those of the model as it was, fed with what is stored",
            fed_with(before, numpy_helper.from_array(array, name), kept),
            proto,
            numpy=NUMPY,
        )
        return Step(proto, (f"input {name!r} is what is stored for it",), (claim,))


@option(
    "drop-input",
    "NAME=VALUE|@FILE.npy",
    "Store a value in the place of an input; NAME alone where nothing reads it.",
    Group.ENDS,
    long_form="NAME=VALUE or NAME=@FILE.npy",
)
def read_drop_input(given: Given) -> DropInput:
    """Return the edit that a text asks for."""
    if "=" not in given.text or given.text in given.known:
        return DropInput(given.text)
    return DropInput(*given.pair())


def drop_input(
    model: ModelLike, name: str, value: str | Array | None = None, **how: Unpack[How]
) -> Edited:
    """Store a value in the place of an input; no value where nothing reads it."""
    return edit(model, [DropInput(name, value)], **how)


def _value(
    info: ValueInfoProto, value: str | np.ndarray[tuple[int, ...], np.dtype[np.generic]], where: str
) -> TensorProto:
    kind = info.type.tensor_type
    if info.type.WhichOneof("value") != "tensor_type" or not kind.elem_type:
        raise UsageError(f"input {info.name!r} is no tensor", where=where)
    sizes: list[int | None] | None = None
    if kind.HasField("shape"):
        sizes = [d.dim_value if d.HasField("dim_value") else None for d in kind.shape.dim]
    array = array_of(value, kind.elem_type, sizes, where)
    tensor = numpy_helper.from_array(array, info.name)
    tensor.data_type = kind.elem_type
    return tensor


def with_outputs(subject: Subject, outputs: Sequence[ValueInfoProto]) -> Step:
    """Return the model with other outputs, and without what only others needed."""
    proto = without_outputs(subject, outputs)
    before = copied(subject.proto)
    _put(before, "output", outputs)
    count = len(subject.proto.graph.node) - len(proto.graph.node)
    said = [f"the outputs are {', '.join(info.name for info in outputs)}"]
    if count:
        said.append(f"nodes that only others needed are gone: {count}")
    idle = [name for name in unread(proto) if name not in unread(subject.proto)]
    if idle:
        said.append(f"nothing reads {', '.join(idle)} any more; --drop-input {idle[0]} drops it")
    return Step(proto, tuple(said), (_equal(before, proto),))


def _equal(before: ModelProto, after: ModelProto) -> Equal:
    return Equal("the outputs are those of the model as it was", before, after)


def _matching_each(
    known: dict[str, ValueInfoProto], names: Sequence[str], kind: str, option: str
) -> list[str]:
    found = [name for one in names for name in matching(known, one, kind, option)]
    return list(dict.fromkeys(found))


def _in_order(
    subject: Subject, kind: Literal["input", "output"], names: Sequence[str], option: str
) -> Step:
    """Put the inputs or outputs that are named first; outputs are compared in the old order."""
    before: Sequence[ValueInfoProto] = getattr(subject.proto.graph, kind)
    known = {info.name: info for info in before}
    order = list(dict.fromkeys([*_matching_each(known, names, kind, option), *known]))
    proto = copied(subject.proto)
    _put(proto, kind, [known[name] for name in order])
    compared = proto
    if kind == "output":
        compared = copied(proto)
        _put(compared, kind, before)
    said = f"the {kind}s are {', '.join(order)}"
    return Step(proto, (said,), (_equal(subject.proto, compared),))


def _put(proto: ModelProto, kind: str, infos: Sequence[ValueInfoProto]) -> None:
    proto.graph.ClearField(kind)
    getattr(proto.graph, kind).extend(infos)
