"""The sentences that say what became of a run: the verdict, whether to trust it, the exit code."""

from __future__ import annotations

from enum import StrEnum
from os.path import basename

from msgspec import Struct

from graphfix.engines.interface import NextStep
from graphfix.rendering.style import count
from graphfix.report import (
    Asked,
    EngineAsked,
    Finding,
    Report,
    Status,
    Verdict,
    Verification,
    every_site_equal,
    mended_sites,
)


class Word(StrEnum):
    """What every command begins with: how it ended. docs/output.md explains them to users."""

    OK = "OK"  # no problem, no difference: nothing was changed
    FIXED = "FIXED"  # problems were there, none is left
    CHANGED = "CHANGED"  # no problem was there, and the model was changed as asked
    PROBLEMS = "PROBLEMS"
    MENDED = "MENDED"  # nothing is left, if the file was read as it was meant
    NOT_VERIFIED = "NOT VERIFIED"  # whether it computes the same could not be shown
    NOT_DONE = "NOT DONE"  # something that was asked for
    DIFFERENT = "DIFFERENT"


COMPARED = {Verdict.EQUAL: Word.OK, Verdict.MISMATCH: Word.DIFFERENT}  # others are not verified


def compared_word(status: Verdict) -> Word:
    """Return the word for a comparison of two models."""
    return COMPARED.get(status, Word.NOT_VERIFIED)


EXIT_CODES = {
    0: "written and verified, or nothing had to be done",
    1: "written, but problems are left, or what was asked for is not done or not verified",
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
    """Return the findings that block it."""
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
            Word.DIFFERENT,
            f"The repaired model does not compute the same as {_source(report)}, and leaving out "
            "single repairs did not help. Nothing was written.",
            Tone.BAD,
        )
    if exit_code == 0:
        return _done(report, dry_run)
    return _not_done(report, dry_run)


def trust(report: Report) -> str:
    """Return one sentence on whether the result computes what the input did."""
    found = report.verification
    if report.reading is not None and found.status is Verdict.EQUAL:
        return _trust_in_reading(report, report.reading)
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


def _trust_in_reading(report: Report, reading: Verification) -> str:
    """Say the same of a file that was mended, which has no meaning of its own to compare with."""
    listed = "with the readings that are listed under Repairs"
    if reading.status is Verdict.EQUAL:
        return (
            f"{_source(report)} has no meaning under ONNX; {listed} the result computes what its "
            "operators give one by one: both were run and compared."
        )
    if reading.status is Verdict.OFF:
        return f"{_source(report)} has no meaning under ONNX, and was not compared as it was read."
    why = f" ({reading.reason})" if reading.reason else ""
    return (
        f"{_source(report)} has no meaning under ONNX, and what its operators give one by one, "
        f"{listed}, could not be shown to be what the result computes{why}."
    )


def misread(report: Report) -> bool:
    """Say whether nothing shows that a broken file was read as is said."""
    shown = (Verdict.EQUAL, Verdict.OFF)
    return report.reading is not None and report.reading.status not in shown


def _done(report: Report, dry_run: bool) -> Headline:
    """Word a run that ended in 0."""
    suits = f"No known problem is left for {report.target}. " if report.target else ""
    if not _changed(report):
        copy = report.output is None or report.output.sha256 == report.input.sha256
        past = "copied unchanged to" if copy else "written without repairs to"
        if copy and report.output is not None and report.output.path == report.input.path:
            past = "left as it was in"
        what = _written(report, dry_run, past, "needs no repair")
        none = f"No problem is known for {report.target}. " if report.target else ""
        word = f"{Word.OK}, NOT ASKED" if not_asked(report) else Word.OK
        return Headline(word, f"{none}{_source(report)} {what}.", Tone.GOOD)
    proved = report.verification.status in (Verdict.EQUAL, Verdict.BUILT)
    extra = ""
    if every_site_equal(report.outcomes) and report.verification.status in _UNDECIDED:
        extra = " Every single repair was run before and after, and compared equal."
    word, past, would = _deed(report)
    what = _written(report, dry_run, f"{past} and written to", would)
    qualified = f"{word}{qualifier(report)}"
    return Headline(
        f"{qualified}, DRY RUN" if dry_run else qualified,
        f"{_source(report)} {what}. {suits}{trust(report)}{extra}",
        Tone.GOOD if proved or extra else Tone.CAREFUL,
    )


def qualifier(report: Report) -> str:
    """Return what limits a good word: the outputs changed by consent, or were not compared."""
    if report.verification.status is Verdict.LOSSY:
        return ", WITH LOSS"
    if report.reading is not None and report.verification.status is not Verdict.OFF:
        return ", MENDED"
    if report.verification.status is Verdict.OFF:
        return ", NOT VERIFIED"
    return ", NOT ASKED" if not_asked(report) else ""


def not_asked(report: Report) -> bool:
    """Say whether nothing but rules says that a converter that guesses reads the result rightly."""
    return report.engine is not None and report.engine.missed


def engine_sentence(engine: EngineAsked | None, target: str, what: str = "the result") -> str:
    """Say whether the target's engine itself was run, and what it did; empty without a target.

    Args:
        engine: What is known of that; None counts as not run.
        target: The resolved target.
        what: What it was given.
    """
    if not target:
        return ""
    title = engine.title if engine is not None else target
    if engine is not None and engine.questions:
        title += f", asked {count(engine.questions, 'time')} which nodes it says no to,"
    match engine.did if engine is not None else Asked.NOT_RUN:
        case Asked.RAN:
            return f"{title} itself ran {what}; its outputs were compared."
        case Asked.BUILT:
            return f"{title} itself built {what}; no device is here to run it."
        case Asked.LOADED:
            return f"{title}, installed here, loaded {what}."
        case Asked.REFUSED:
            here = "," if title.endswith(",") else ", installed here,"
            return f"{title.rstrip(',')}{here} does not take {what}."
        case Asked.INCONCLUSIVE if engine is not None and engine.said:
            return f"{title} was asked too, and shows nothing: {engine.said}."
        case Asked.INCONCLUSIVE:
            return f"{title} was asked too; its answer is part of this report."
        case _ if engine is not None and engine.questions:
            return f"{title.rstrip(',')}; its answers are findings of this report."
        case _:
            return f"{title} was not run; the rules known of it were applied{_measured(engine)}."


def integers_sentence(report: Report) -> str:
    """Say that a network no longer computes in 8 bits, and where; empty where it does as before."""
    found = report.integers
    if found is None:
        return ""
    keeps = "" if found.by_consent is None else f"; --allow-lossy keeps {found.by_consent}"
    if not found.after:
        many = count(found.before, "product")
        return f"All computing in 8 bits ({many}) is in floats now{keeps}."
    part = "" if found.share is None else f" ({found.share:.0%} of their multiply-adds)"
    lost = found.before - found.after
    return (
        f"Of {found.before} products in 8 bits {found.after} "
        f"{'stays' if found.after == 1 else 'stay'} so{part}; "
        f"{lost} {'is' if lost == 1 else 'are'} computed in floats now{keeps}."
    )


def _measured(engine: EngineAsked | None) -> str:
    """Say how often rules alone were right about networks that they were not written for."""
    if engine is None or engine.unseen is None:
        return ""
    were = "was" if engine.not_so == 1 else "were"
    return (
        f": of {engine.unseen} unseen networks that they called fixed, {engine.not_so} {were} not"
    )


def _deed(report: Report) -> tuple[Word, str, str]:
    """Return the word for what was done, what became of the model, and what would.

    Only what had a problem is fixed; a model that was changed without one was changed as asked.
    """
    if problems(report.findings_before):
        return Word.FIXED, "repaired", "can be repaired"
    if not _applied(report):
        what = "given other inputs or outputs, its nodes unchanged,"
        return Word.CHANGED, what, "can be changed so"
    if report.target:
        sites = (len(o.sites) for o in report.outcomes if o.status is Status.APPLIED)
        what = f"simplified at {count(sum(sites), 'place')} (it had no problem)"
        return Word.CHANGED, what, "has no problem and can be simplified"
    return Word.CHANGED, "changed as asked", "can be changed so"


def _not_done(report: Report, dry_run: bool) -> Headline:
    """Word a run that ended in 1."""
    left = problems(report.findings_after)
    if report.output is not None and not dry_run:
        what = "What could be done was" if _changed(report) else "Nothing could be repaired;"
        same = report.output.sha256 == report.input.sha256
        in_place = same and report.output.path == report.input.path
        if in_place:
            written = f"{what} it was left as it was in {report.output.path}."
        else:
            copy = "" if _changed(report) else " a copy was"
            written = f"{what}{copy} written to {report.output.path}."
    else:
        written = "Nothing was written" + (" (dry run)." if dry_run else ".")
    kept = f" {trust(report)}" if _changed(report) and report.output is not None else ""
    if left:
        engine = report.target or "the ONNX checker"
        verb = "is" if len(left) == 1 else "are"
        return Headline(
            Word.PROBLEMS,
            f"{count(len(left), 'problem')} {verb} left for {engine}. {written}{kept}",
            Tone.BAD,
        )
    if report.verification.status in (*_UNDECIDED, Verdict.MISMATCH) or misread(report):
        return Headline(Word.NOT_VERIFIED, f"{trust(report)} {written}", Tone.CAREFUL)
    if needs_consent(report):
        return Headline(Word.MENDED, f"{trust(report)} {written}{MENDED_ADVICE}", Tone.CAREFUL)
    if asks_trust(report):
        word = _deed(report)[0] if _changed(report) else Word.OK
        said = f"By rules no problem is left for {report.target}; {NOT_ASKED}."
        return Headline(f"{word}, NOT ASKED", f"{said} {written}{kept}", Tone.CAREFUL)
    return Headline(
        Word.NOT_DONE,
        f"{undone(report)} {written}{kept}",
        Tone.BAD,
    )


NOT_ASKED = "its converter guesses, and was not asked"


def asks_trust(report: Report) -> bool:
    """Say of a run that ended in 1, where nothing is left, whether the engine alone is missing."""
    stuck = (Status.REFUSED, Status.FAILED)
    return not_asked(report) and not any(o.status in stuck for o in report.outcomes)


MENDED_ADVICE = " If it was read as it was meant, say so: --allow-mended."


def needs_consent(report: Report) -> bool:
    """Say of a run that ended in 1, where all is proved, whether only a consent is missing."""
    stuck = (Status.REFUSED, Status.FAILED)
    opset = any(o.pass_id == "opset" and o.status in stuck for o in report.outcomes)
    return bool(mended_sites(report.outcomes)) and not opset


def undone(report: Report) -> str:
    """Return one sentence on what was asked for and is not done, with the first reason."""
    for outcome in sorted(report.outcomes, key=lambda each: each.pass_id != "opset"):
        if outcome.status in (Status.REFUSED, Status.FAILED) and outcome.reason:
            return f"{outcome.pass_id} {outcome.status}: {outcome.reason.rstrip('.')}."
    return "No pass that was asked for acted on the model."


def exit_meaning(report: Report, exit_code: int) -> str:
    """Return what an exit code other than 0 stands for in this run."""
    if exit_code != 1:
        return EXIT_CODES[exit_code]
    left = problems(report.findings_after)
    if left:
        return f"{count(len(left), 'problem')} left"
    if report.verification.status in (*_UNDECIDED, Verdict.MISMATCH):
        return "it could not be shown that the result computes the same"
    if misread(report):
        return "it could not be shown that the file was read as is said"
    if needs_consent(report):
        return "the file has no meaning under ONNX; --allow-mended accepts how it was read"
    if asks_trust(report):
        return f"{NOT_ASKED}; --trust-rules takes the rules for enough"
    return "what was asked for is not done"


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


def number(value: float | None) -> str:
    """Return a measured difference: ``0``, ``1.2e-07``, ``nan``; a dash where none was measured."""
    if value is None:
        return "-"
    return "0" if value == 0 else f"{value:.2g}"


RUN_PROGRAM = "Run it, with arrays of your own"  # the next step, where it is a program


def intent_of(step: NextStep, report: Report) -> str:
    """Return what the next command is for, which depends on whether problems are left."""
    return "See what the engine itself says" if problems(report.findings_after) else step.intent
