"""The edit that splits a model by a switch, such as a merged decoder of optimum."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Unpack

from onnx import GraphProto, ModelProto, TensorProto, ValueInfoProto

from graphfix.edits.addressing import matching
from graphfix.edits.declaring import Given, Group, option
from graphfix.edits.engine import Edited, How, ModelLike, edit
from graphfix.edits.outside import NUMPY, fed_with
from graphfix.edits.parts import stored_input, unread, without_outputs
from graphfix.edits.step import Claim, Equal, Step, Subject
from graphfix.edits.switch import VALUES, flag_of, is_on
from graphfix.errors import UsageError
from graphfix.ir.addressing import listed
from graphfix.ir.model import Model
from graphfix.ir.protos import copied, names_read, required_inputs
from graphfix.pipeline.reproducers.recorded_run import finish_with
from graphfix.pipeline.settings import RunOptions


@dataclass(frozen=True, slots=True)
class SplitBy:
    """Write a model for each value of a bool input that decides an If of the main graph.

    Inputs that nothing reads then, and outputs that never hold a number, are not of it.

    Attributes:
        name: The input.
        where_true: The file of the model for true.
        where_false: The file of the model for false.
    """

    name: str
    where_true: Path
    where_false: Path
    option: str = field(default="--split-by", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Return both models next to the model; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.name}={self.where_true},{self.where_false}"
        known = {info.name: info for info in required_inputs(subject.proto.graph)}
        (name,) = matching(known, self.name, "input", where)[:1]
        if self.where_true == self.where_false:
            raise UsageError("both models would go to one file", where=where)
        said: list[str] = []
        claims: list[Claim] = []
        parts: dict[Path, ModelProto] = {}
        for value, path in zip(VALUES, (self.where_true, self.where_false), strict=True):
            stored = flag_of(known[name], value, where)
            whole = _decided(subject, stored, where)
            empty = _empty(whole.graph)
            kept = [info for info in whole.graph.output if info.name not in empty]
            if not kept:
                raise UsageError(f"no output holds a number where {name!r} is {value}", where=where)
            part = without_outputs(Subject(whole, subject.base_dir), kept)
            _drop_weights(part.graph, _read(subject.proto.graph) - _read(part.graph))
            idle = unread(part)
            claims.append(_decided_right(subject.proto, stored, kept, part, path))
            inputs = [info for info in part.graph.input if info.name not in idle]
            part.graph.ClearField("input")
            part.graph.input.extend(inputs)
            said.append(f"where {name} is {str(value).lower()}: {path}")
            said += [f"  without {text}" for text in _left_out(idle, sorted(empty))]
            parts[path] = part
        return Step(subject.proto, tuple(said), tuple(claims), parts)


@option(
    "split-by",
    "INPUT=true.onnx,false.onnx",
    "Write a model for each value of a bool input; needs no -o.",
    Group.PARTS,
    after="split",
    splits=True,
)
def read_split_by(given: Given) -> SplitBy:
    """Return the edit that a text asks for."""
    return SplitBy(*given.before_two_files())


def split_by(
    model: ModelLike,
    name: str,
    where_true: str | Path,
    where_false: str | Path,
    **how: Unpack[How],
) -> Edited:
    """Make a model for each value of a bool input; ``parts`` has both, nothing is written."""
    return edit(model, [SplitBy(name, Path(where_true), Path(where_false))], **how)


def _decided(subject: Subject, flag: TensorProto, where: str) -> ModelProto:
    """Return the model once a switch is stored, without the Ifs that it decides.

    Raises:
        UsageError: It decides none of the main graph.
    """
    proto = stored_input(subject.proto, flag)
    model = Model(proto, base_dir=subject.base_dir)
    settings = RunOptions(passes=("if-elimination",), verify="off").settings()
    result = finish_with(model, settings, (), None)
    found = result.model.to_proto()
    before, after = (sum(n.op_type == "If" for n in p.graph.node) for p in (proto, found))
    if before == after:
        reasons = [outcome.reason for outcome in result.report.outcomes if outcome.reason]
        raise UsageError(
            f"no If of the main graph is decided by {flag.name!r}"
            + "".join(f": {reason}" for reason in reasons[:1]),
            where=where,
        )
    return found


def _read(graph: GraphProto) -> set[str]:
    """Return what nodes of a main graph read, and what it returns."""
    read = {name for node in graph.node for name in names_read(node)}
    return read | {info.name for info in graph.output}


def _drop_weights(graph: GraphProto, names: Container[str]) -> None:
    """Drop stored tensors, in place."""
    dense = [t for t in graph.initializer if t.name not in names]
    sparse = [t for t in graph.sparse_initializer if t.values.name not in names]
    graph.ClearField("initializer")
    graph.ClearField("sparse_initializer")
    graph.initializer.extend(dense)
    graph.sparse_initializer.extend(sparse)


def _empty(graph: GraphProto) -> set[str]:
    """Return the outputs that are stored tensors without a number."""
    stored = {t.name: t for t in graph.initializer}
    makers = {name: node for node in graph.node for name in node.output}

    def holds_none(name: str) -> bool:
        node = makers.get(name)
        while node is not None and node.op_type == "Identity" and not node.domain:
            name = node.input[0]
            node = makers.get(name)
        if node is None:
            return name in stored and 0 in stored[name].dims
        values = [a.t for a in node.attribute if a.name == "value"]
        return node.op_type == "Constant" and any(0 in value.dims for value in values)

    return {info.name for info in graph.output if holds_none(info.name)}


def _decided_right(
    proto: ModelProto,
    flag: TensorProto,
    outputs: Sequence[ValueInfoProto],
    part: ModelProto,
    path: Path,
) -> Equal:
    """Return the claim of a model that is left of another one."""
    names = {info.name for info in outputs}
    before = copied(proto)
    kept = [info for info in before.graph.output if info.name in names]
    before.graph.ClearField("output")
    before.graph.output.extend(kept)
    inputs = [info for info in proto.graph.input if info.name != flag.name]
    value = str(is_on(flag)).lower()
    after = copied(part)
    return Equal(
        f"{path} computes what the model does where {flag.name} is {value}",
        fed_with(before, flag, inputs),
        after,
        NUMPY,
    )


def _left_out(inputs: Sequence[str], outputs: Sequence[str]) -> Iterator[str]:
    if inputs:
        yield f"what nothing reads then: {listed(inputs)}"
    if outputs:
        yield f"what is empty then: {listed(outputs)}"
