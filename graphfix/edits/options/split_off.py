"""The edit that splits off what depends on some inputs alone, such as keys of what was encoded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Unpack

from graphfix.edits.addressing import matching
from graphfix.edits.alone import Alone, alone, sized_by
from graphfix.edits.declaring import Given, Group, option
from graphfix.edits.engine import Edited, How, ModelLike, edit
from graphfix.edits.parts import composed, needed, part, read_by
from graphfix.edits.step import Equal, Step, Subject
from graphfix.errors import UsageError
from graphfix.ir.addressing import listed
from graphfix.ir.protos import required_inputs


@dataclass(frozen=True, slots=True)
class SplitOff:
    """Write what depends on some inputs and weights alone to a file, and the rest to another.

    The first is run once, and the rest as often as its other inputs change: a decoder that
    computes the keys and values of its cross-attention again for each token takes them as inputs.

    Attributes:
        names: The inputs.
        once: The file of what depends on them alone.
        rest: The file of the rest.
    """

    names: tuple[str, ...]
    once: Path
    rest: Path
    option: str = field(default="--split-off", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Return both parts next to the model; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {','.join(self.names)}={self.once},{self.rest}"
        known = [info.name for info in required_inputs(subject.proto.graph)]
        inputs = [n for each in self.names for n in matching(known, each, "input", where)]
        if self.once == self.rest:
            raise UsageError("both parts would go to one file", where=where)
        found = alone(subject, inputs)
        found = sized_by(found, _cut(found, inputs))
        cut, scope = _cut(found, inputs), found.subject.scope
        late = [name for name in scope.outputs if name not in found.values]
        text = listed(inputs)
        if not {*cut, *scope.outputs} & (found.values - found.sizes - {*inputs}):
            raise _nothing(found, text, where)
        if not late:
            raise UsageError(f"all outputs depend on {text} alone, nothing is left", where=where)
        early = [name for name in scope.outputs if name in found.values]
        first = needed(scope, [*cut, *early])
        second = needed(scope, late, cut)
        read = {*late, *(name for i in second for name in read_by(scope, i))}
        fed = [name for name in scope.inputs if name in read]
        one = part(found.subject, first, inputs, list(dict.fromkeys([*cut, *early])), where)
        two = part(found.subject, second, [*cut, *fed], late, where)
        claim = Equal(
            "both parts, one after the other, give what the model computes",
            subject.proto,
            composed(one, two, subject.proto, subject.proto.graph.output),
        )
        said = [
            f"{self.once} computes {listed(cut)} from {text}",
            f"{self.rest} takes them, and {listed(fed)}",
        ]
        if found.given:
            said.append(f"has the batch size of what it reads: {listed(found.given)}")
        return Step(subject.proto, tuple(said), (claim,), {self.once: one, self.rest: two})


@option(
    "split-off",
    "IN,IN=once.onnx,rest.onnx",
    "Write what depends on inputs alone apart; needs no -o.",
    Group.PARTS,
    after="split-by",
    splits=True,
)
def read_split_off(given: Given) -> SplitOff:
    """Return the edit that a text asks for."""
    names, once, rest = given.before_two_files()
    return SplitOff(given.listed(names), once, rest)


def split_off(
    model: ModelLike, names: Sequence[str], once: str | Path, rest: str | Path, **how: Unpack[How]
) -> Edited:
    """Split off what depends on some inputs alone; ``parts`` has both, nothing is written."""
    return edit(model, [SplitOff(tuple(names), Path(once), Path(rest))], **how)


def _cut(found: Alone, inputs: Sequence[str]) -> list[str]:
    """Return what the rest reads of what depends on the inputs alone, outputs where it can."""
    scope = found.subject.scope
    outputs = {name for name in scope.outputs if name in found.values}
    late = needed(scope, [name for name in scope.outputs if name not in found.values], found.values)
    read = [name for index in sorted(late) for name in read_by(scope, index)]
    names = [found.lighter(n, outputs) for n in read if n in found.values and n not in inputs]
    return list(dict.fromkeys(names))


def _nothing(found: Alone, text: str, where: str) -> UsageError:
    """Return what is said where nothing depends on the inputs alone."""
    scope = found.subject.scope
    for node in scope.nodes:
        if node.op_type == "If" and node.input[0] in scope.inputs:
            hint = f"first: --split-by {node.input[0]}=true.onnx,false.onnx"
            return UsageError(f"{text} is read inside of an If", where=where, hint=hint)
    sizes = " but sizes" if found.sizes else ""
    return UsageError(f"nothing{sizes} is computed from {text} and weights alone", where=where)
