"""The sentences that say what became of a run: the verdict, whether to trust it, the exit code."""

from __future__ import annotations

from enum import StrEnum
from os.path import basename

from msgspec import Struct

from graphfix.rendering.style import count
from graphfix.report import Finding, Report, Status, Verdict, every_site_equal

EXIT_CODES = {
    0: "written and verified, or nothing had to be done",
    1: "something is left to do: problems remain, or equality could not be shown",
    2: "wrong usage",
    3: "the input cannot be read or is not a model; nothing was written",
    4: "the result does not compute the same as the input; nothing was written",
    5: "a fault in graphfix; nothing was written",
}

CHECK_EXIT_CODES = {**EXIT_CODES, 0: "no problem found", 1: "problems were found"}


_UNDECIDED = (Verdict.INCONCLUSIVE, Verdict.SKIPPED)


class Tone(StrEnum):
    """How a verdict sounds; the text view colours it."""

    GOOD = "good"
    CAREFUL = "careful"
    BAD = "bad"


class Headline(Struct, frozen=True):
    """The first thing a reader sees: a word, then what it means for them."""

    word: str
    sentence: str
    tone: Tone


def problems(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return the findings that stand in the way."""
    return tuple(f for f in findings if f.blocks)


def headline(report: Report, exit_code: int, *, dry_run: bool = False) -> Headline:
    """Return the verdict on a run.

    Args:
        report: What happened.
        exit_code: What the run ends with (0, 1 or 4).
        dry_run: Nothing was to be written.
    """
    if exit_code == 4:
        return Headline(
            "NOT WRITTEN",
            f"The repaired model does not compute the same as {_source(report)}, and taking single "
            "repairs back did not help. Nothing was written.",
            Tone.BAD,
        )
    if exit_code == 0:
        return _done(report, dry_run)
    return _not_done(report, dry_run)


def trust(report: Report) -> str:
    """Return one sentence on whether the result computes what the input did."""
    found = report.verification
    why = f" ({found.reason})" if found.reason else ""
    match found.status:
        case Verdict.EQUAL:
            return f"It computes the same as {_source(report)}: both were run and compared."
        case Verdict.BUILT:
            return (
                f"It computes the same as {_source(report)} in onnxruntime: both were run and "
                f"compared. {found.reason}."
            )
        case Verdict.LOSSY:
            return (
                "It does not compute quite the same: lossy repairs that you allowed changed the "
                "outputs, by how much is listed under Verification."
            )
        case Verdict.OFF:
            return (
                "It was not checked whether it computes the same: verification was off. Compare "
                "it yourself before you use it."
            )
        case Verdict.MISMATCH:
            return f"It does not compute the same as {_source(report)}{why}."
        case _:
            return f"The comparison of the whole model could not show that it is equal{why}."


def _done(report: Report, dry_run: bool) -> Headline:
    """Word a run that ended in 0."""
    suits = f"No rule for {report.target} objects to it. " if report.target else ""
    if not _changed(report):
        copy = report.output is None or report.output.sha256 == report.input.sha256
        what = _written(
            report,
            dry_run,
            "copied unchanged to" if copy else "written without repairs to",
            "needs no repair",
        )
        return Headline("NOTHING TO DO", f"{suits}{_source(report)} {what}.", Tone.GOOD)
    proved = report.verification.status in (Verdict.EQUAL, Verdict.BUILT)
    extra = ""
    if every_site_equal(report.outcomes) and report.verification.status in _UNDECIDED:
        extra = " Every single repair was run before and after, and compared equal."
    word, past, would = _deed(report)
    what = _written(report, dry_run, f"{past} and written to", would)
    word = f"WOULD BE {word}" if dry_run else word
    if report.verification.status is Verdict.BUILT:
        word += " AND BUILT"
    elif report.verification.status is Verdict.LOSSY:
        word += ", WITH LOSS"
    elif report.verification.status is Verdict.OFF:
        word += ", NOT VERIFIED"
    return Headline(
        word,
        f"{_source(report)} {what}. {suits}{trust(report)}{extra}",
        Tone.GOOD if proved or extra else Tone.CAREFUL,
    )


def _deed(report: Report) -> tuple[str, str, str]:
    """Return the word for what was done, what became of the model, and what would.

    Only what had a problem is fixed; a model that was changed without one was done as asked.
    """
    if problems(report.findings_before):
        return "FIXED", "repaired", "can be repaired"
    if not _applied(report):
        return "DONE", "given other inputs or outputs, its nodes unchanged,", "can be changed so"
    if report.target:
        return "DONE", "simplified (it had no problem)", "has no problem and can be simplified"
    return "DONE", "changed as asked", "can be changed so"


def _not_done(report: Report, dry_run: bool) -> Headline:
    """Word a run that ended in 1."""
    left = problems(report.findings_after)
    if report.output is not None and not dry_run:
        what = "What could be done was" if _changed(report) else "Nothing could be repaired;"
        copy = "" if _changed(report) else " a copy was"
        written = f"{what}{copy} written to {report.output.path}."
    else:
        written = "Nothing was written" + (" (dry run)." if dry_run else ".")
    kept = f" {trust(report)}" if _changed(report) and report.output is not None else ""
    if left:
        engine = report.target or "the ONNX checker"
        verb = "is" if len(left) == 1 else "are"
        return Headline(
            "NOT FIXED",
            f"{count(len(left), 'problem')} {verb} left for {engine}. {written}{kept}",
            Tone.BAD,
        )
    if report.verification.status in (*_UNDECIDED, Verdict.MISMATCH):
        return Headline("NOT PROVED", f"{trust(report)} {written}", Tone.CAREFUL)
    return Headline(
        "NOT DONE",
        f"What was asked for could not be done; see Repairs for the reason. {written}{kept}",
        Tone.BAD,
    )


def _written(report: Report, dry_run: bool, past: str, would: str) -> str:
    """Return what happened to the file: ``copied unchanged to x.onnx``."""
    if report.output is not None and not dry_run:
        return f"was {past} {report.output.path}"
    return f"{would} (nothing was written)"


def _changed(report: Report) -> bool:
    """Say whether anything was changed: by a pass, or at the interface."""
    return _applied(report) or bool(report.io_changes)


def _applied(report: Report) -> bool:
    return any(o.status is Status.APPLIED for o in report.outcomes)


def _source(report: Report) -> str:
    """Return the input's file name, short enough for a sentence."""
    return basename(report.input.path) or "the model"
