"""A run of repairs as one step among edits: for a target, by name, or to an opset."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from graphfix.edits.step import Claim, Shown, Step, Subject
from graphfix.errors import UsageError
from graphfix.ir.model import Model
from graphfix.pipeline.reproducers.recorded_run import finish_with
from graphfix.pipeline.results import Result
from graphfix.pipeline.settings import RunOptions
from graphfix.report import Status, Verdict

_WRONG = 4  # the exit code of a result that differs
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Repair:
    """Repair a model as `graphfix run` does.

    Attributes:
        options: What the run is asked for; ``verify`` is that of the edits.
    """

    options: RunOptions = field(default_factory=RunOptions)

    @property
    def option(self) -> str:
        """What asks for it: the table ``run`` of a recipe."""
        return "run"

    def apply(self, subject: Subject) -> Step:
        """Repair a copy of the model; see `graphfix.edits.step.Edit`."""
        model = Model(subject.proto, base_dir=subject.base_dir)
        asked = replace(self.options, verify="auto" if subject.proves else "off")
        result = finish_with(model, asked.settings(), (), None)
        self._check_found(result)
        found, left = result.report.verification, tuple(_left(result))
        claims: tuple[Claim, ...] = ()
        if found.status is Verdict.LOSSY and result.exit_code != _WRONG:
            left = (*left, f"outputs differ, as was consented to: {found.reason}")
        elif found.status is not Verdict.OFF:
            claims = (Shown("it computes what the model did before these repairs", found),)
        return Step(result.model.to_proto(), tuple(_said(result)), claims, unfinished=left)

    def _check_found(self, result: Result) -> None:
        """Check that passes asked for by name found what they are for.

        Raises:
            UsageError: One did not.
        """
        if self.options.passes is None:
            return
        for outcome in result.report.outcomes:
            if outcome.status is Status.APPLIED:
                continue
            raise UsageError(
                f"{outcome.pass_id} changed no node" + f": {outcome.reason}" * bool(outcome.reason),
                hint="the model has nothing of the kind; take the pass out of the step",
            )


def _said(result: Result) -> Iterator[str]:
    applied = [o for o in result.report.outcomes if o.status is Status.APPLIED]
    if not applied:
        yield "there was nothing to repair"
    for outcome in applied:
        count = len(outcome.sites)
        yield f"{outcome.pass_id} at {count} place{'s' * (count != 1)}"


def _left(result: Result) -> Iterator[str]:
    found = [finding for finding in result.report.findings_after if finding.blocks]
    for finding in found[:_SHOWN]:
        yield f"left for {result.report.target}: {finding.message}"
    if len(found) > _SHOWN:
        yield f"and {len(found) - _SHOWN} more problems"
