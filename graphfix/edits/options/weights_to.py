"""The edits that make floats of weights of few bits, and put floats into the same blocks again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Unpack

from graphfix.edits.blocks.again import to_blocks
from graphfix.edits.blocks.to_floats import to_floats
from graphfix.edits.declaring import Given, Group, option
from graphfix.edits.engine import Edited, How, ModelLike, edit
from graphfix.edits.step import Claim, Equal, Runs, Step, Subject
from graphfix.errors import UsageError

FLOATS, BLOCKS, ROUNDED = "floats", "blocks", "blocks,rounded"


@dataclass(frozen=True, slots=True)
class WeightsTo:
    """Make floats of weights of few bits by blocks, or put floats into the same blocks again.

    Attributes:
        form: ``floats``; ``blocks`` for weights that still are what their blocks gave;
            ``blocks,rounded`` for others too, which are rounded.
    """

    form: str
    option: str = field(default="--weights-to", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Write them otherwise; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.form}"
        if self.form == FLOATS:
            done = to_floats(subject, where)
            text = "it computes what it did with weights of few bits"
        elif self.form in (BLOCKS, ROUNDED):
            done = to_blocks(subject, where, rounded=self.form == ROUNDED)
            text = "it computes what it did with floats"
        else:
            known = f"{FLOATS}, {BLOCKS} or {ROUNDED}"
            raise UsageError(f"{self.form!r} is not {known}", where=self.option)
        claim: Claim = Equal(text, subject.proto, done.proto)
        if done.rounds:
            claim = Runs("it runs", done.proto, subject.proto)
        return Step(done.proto, tuple(done.said), (claim,), unfinished=tuple(done.left))


@option(
    "weights-to",
    "floats|blocks",
    "Make floats of weights of few bits, or the blocks again.",
    Group.SHAPES,
    long_form=f"{FLOATS}, {BLOCKS} or {ROUNDED}",
)
def read_weights_to(given: Given) -> WeightsTo:
    """Return the edit that a text asks for."""
    if given.text not in (FLOATS, BLOCKS, ROUNDED):
        raise given.malformed()
    return WeightsTo(given.text)


def weights_to(model: ModelLike, form: str, **how: Unpack[How]) -> Edited:
    """Make ``floats`` of weights of few bits, or the noted ``blocks`` of floats."""
    return edit(model, [WeightsTo(form)], **how)
