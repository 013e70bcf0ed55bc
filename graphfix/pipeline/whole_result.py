"""The result of a run as a whole: whether it is valid, and whether it computes the same."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

from msgspec import structs

from graphfix.engines.checking import file_findings
from graphfix.pipeline.attempts import failed, failed_together
from graphfix.pipeline.binding import bind_shapes
from graphfix.pipeline.blame import MOST_RUNS, Attempt, Blame
from graphfix.pipeline.original import Original
from graphfix.pipeline.settings import Settings
from graphfix.pipeline.validation import (
    Validity,
    contradicted_outputs,
    interface,
    new_complaints,
    validity_of,
)
from graphfix.pipeline.verifying import verify, verify_reading
from graphfix.report import APPROXIMATE, LOSSY, MENDED, Verdict, Verification

_PARTS = 4  # in which passes are left out together


def compared(before: Original, attempt: Attempt) -> Attempt:
    """Check the result of an attempt, and compare it with the model as it came."""
    run, settings, model = attempt.run, attempt.settings, attempt.run.model
    fault = ""
    start = perf_counter()
    found = before.validity
    if run.journal.applied_passes() or settings.shapes:
        found = validity_of(model, before.misdeclared)
        fault = new_complaints(before.validity, _judged(found, before, settings))
        if fault and settings.shapes:  # which may contradict what the file computes
            bound = before.again()
            bind_shapes(bound, settings.shapes)
            was = validity_of(bound, before.misdeclared)
            fault = new_complaints(was, _judged(found, before, settings))
        if fault and (contradicted := contradicted_outputs(before.again())):
            known = before.misdeclared | frozenset(contradicted)
            now = _judged(validity_of(model, known), before, settings)
            fault = new_complaints(before.validity, now)
        if not fault and interface(model) != run.expected_interface:
            fault = "inputs or outputs changed"
    run.seconds["validate"] = perf_counter() - start
    if fault:
        return structs.replace(
            attempt, verification=Verification(Verdict.SKIPPED, fault), fault=fault
        )
    for hook in run.hooks:
        hook.stage("verify")
    start = perf_counter()
    if run.journal.applied_passes() or settings.verify == "off":
        verification = verify(
            before,
            model,
            settings,
            lossy=run.journal.labelled(LOSSY),
            approximate=run.journal.labelled(APPROXIMATE),
            prepared=run.prepared,
        )
    else:
        reason = "no node was changed" if run.io_changes else "nothing was changed"
        verification = Verification(Verdict.EQUAL, reason, "the graph is the same")
        if settings.inputs is not None:  # whoever gives inputs wants to know whether it takes them
            found_there = verify(before, model, settings, lossy=False, prepared=run.prepared)
            verification = found_there if found_there.runs_never else verification
    reading = None
    if run.journal.labelled(MENDED):
        read = run.prepared if run.prepared is not None else model.to_proto()
        reading = verify_reading(before, read, settings)
        # Where nothing was repaired after it, the file as it was read is the result.
        alone = settings.verify != "off" and (run.prepared is None or read == model.to_proto())
        verification = reading if alone or reading.status is Verdict.MISMATCH else verification
    run.seconds["verify"] = perf_counter() - start
    left = file_findings(found.complaints, settings.target)
    return structs.replace(attempt, verification=verification, file_findings=left, reading=reading)


def _judged(found: Validity, before: Original, settings: Settings) -> Validity:
    """Return what counts of the complaints about a result.

    Inference ends where the checker does: what it says only now the file may have had all along.
    What follows of it for nodes is counted with the findings (worse_findings.py).
    """
    if before.validity.checker and not before.validity.inference and settings.target:
        return replace(found, inference="", complaints=())
    return found


def broken(attempt: Attempt, _: int) -> Blame | None:
    """Blame the passes that were applied for a result that is wrong, the latest first.

    Each alone comes first. Where several are at fault, or a stage that follows from what they did,
    more and more of the latest are left out together, and in the end all of them.
    """
    if not attempt.broken:
        return None
    why = attempt.fault or attempt.verification.reason or "the outputs differ"
    reason = f"its result was rolled back: {why}"
    latest = attempt.run.journal.applied_passes()[::-1]
    suspects = [failed(attempt.settings, name, reason) for name in latest]
    if attempt.fault and len(latest) > 1:
        shares = dict.fromkeys(-(-len(latest) * part // _PARTS) for part in range(1, _PARTS + 1))
        together = [
            failed_together(attempt.settings, latest[:count], reason)
            for count in shares
            if count > 1
        ]
        suspects = [*suspects[: MOST_RUNS - len(together)], *together]
    return Blame(tuple(suspects), lambda found: not found.broken)
