"""Who is to blame for what is wrong with a run: leave it out, and run again.

This is the one loop by which passes and sites are rolled back. What may be wrong (a pass raises,
the graph outgrows what it gains, findings get worse, a site or the whole result differs) is a
`Stage` each, that names its suspects; see `graphfix.pipeline.attempts` and
`graphfix.pipeline.finishing`. A suspect is left out by running once more from the model as it came:
what later passes made of its work needs no undoing then.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from graphfix.errors import PassBug
from graphfix.pipeline.faults import Specimen
from graphfix.pipeline.run import Run
from graphfix.pipeline.settings import Settings
from graphfix.pipeline.sweep import Applied
from graphfix.report import Finding, Outcome, Verdict, Verification

MOST_RUNS = 12  # that are made for one thing that is wrong
_NOT_YET = Verification(Verdict.SKIPPED)


class Attempt(Struct, frozen=True):
    """A run, and what was left out before it came out like this.

    Attributes:
        run: The run; its model is half-way edited where a pass raised.
        settings: What it was made with: blocked sites and passes left out.
        bug: What a pass raised.
        left_out: What became of the passes that were left out.
        rolled_back: The sites that were found to differ, and are blocked.
        specimens: What reproducers of all these are made of.
        verification: How the result as a whole compared.
        fault: Why the result is not valid; empty where it is.
        file_findings: What blocks the result as a file.
        reading: How the file as it was read compared with the file as it came; None where nothing
            was mended.
    """

    run: Run
    settings: Settings
    bug: PassBug | None = None
    left_out: tuple[Outcome, ...] = ()
    rolled_back: tuple[Applied, ...] = ()
    specimens: tuple[Specimen, ...] = ()
    verification: Verification = _NOT_YET
    fault: str = ""
    file_findings: tuple[Finding, ...] = ()
    reading: Verification | None = None

    @property
    def misread(self) -> bool:
        """Whether nothing shows that the file was read as was said."""
        shown = (Verdict.EQUAL, Verdict.OFF)
        return self.reading is not None and self.reading.status not in shown

    @property
    def broken(self) -> bool:
        """Whether the result as a whole is wrong."""
        return bool(self.fault) or self.verification.status is Verdict.MISMATCH

    @property
    def findings_after(self) -> tuple[Finding, ...]:
        """What blocks the result."""
        return (*self.file_findings, *self.run.findings_after)


class Suspect(Struct, frozen=True):
    """What may be to blame; fields as for `Attempt`, and the settings are those without it."""

    settings: Settings
    left_out: tuple[Outcome, ...] = ()
    rolled_back: tuple[Applied, ...] = ()
    specimens: tuple[Specimen, ...] = ()


class Blame(Struct, frozen=True):
    """What may be to blame for what is wrong with an attempt.

    Attributes:
        suspects: What to leave out, one after the other, the likeliest first.
        cured: Says whether an attempt without a suspect is better; the first such is taken.
    """

    suspects: tuple[Suspect, ...]
    cured: Callable[[Attempt], bool] = lambda _: True


class Stage(Struct, frozen=True):
    """One thing that may be wrong with a run.

    Attributes:
        again: Runs once more from the model as it came.
        blame: Says who may be to blame, after so many runs of this stage; None where nothing is
            wrong, or no one is to blame.
        examine: Adds to an attempt what `blame` looks at.
    """

    again: Callable[[Settings], Attempt]
    blame: Callable[[Attempt, int], Blame | None]
    examine: Callable[[Attempt], Attempt] = lambda attempt: attempt


def settled(attempt: Attempt, stage: Stage) -> Attempt:
    """Leave out who is to blame, again and again; return the first attempt without a culprit.

    Where no suspect turns out to be the culprit, or after `MOST_RUNS`, it is the last attempt, with
    what is wrong with it.
    """
    attempt = stage.examine(attempt)
    for count in range(MOST_RUNS):
        blame = stage.blame(attempt, count)
        better = None if blame is None else _without_culprit(attempt, blame, stage)
        if better is None:
            break
        attempt = better
    return attempt


def _without_culprit(attempt: Attempt, blame: Blame, stage: Stage) -> Attempt | None:
    for suspect in blame.suspects[:MOST_RUNS]:
        found = stage.examine(stage.again(suspect.settings))
        if blame.cured(found):
            return _after(attempt, suspect, found)
    return None


def _after(earlier: Attempt, suspect: Suspect, found: Attempt) -> Attempt:
    """Return an attempt with what the one before it had left out, and took."""
    for name, spent in earlier.run.seconds.items():
        found.run.seconds[name] = found.run.seconds.get(name, 0.0) + spent
    return replace(
        found,
        left_out=(*earlier.left_out, *suspect.left_out, *found.left_out),
        rolled_back=(*earlier.rolled_back, *suspect.rolled_back, *found.rolled_back),
        specimens=(*earlier.specimens, *suspect.specimens, *found.specimens),
    )
