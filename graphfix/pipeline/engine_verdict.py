"""What the target's engine, and the arithmetic that it has, say of a result.

This is the one look at a result after the blame loop, which has proved it: nothing that is said
here leaves a pass out.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

from msgspec import Struct, structs

from graphfix.engines.checking import file_findings
from graphfix.engines.engine import engine_of
from graphfix.pipeline.blame import Attempt
from graphfix.pipeline.load_findings import engine_asked, findings_of_loading
from graphfix.pipeline.original import Original
from graphfix.pipeline.verifying import on_disk, original_on_disk, verify_in_engine
from graphfix.proving.whole.rounding import ARITHMETIC
from graphfix.report import LOSSY, Asked, EngineAsked, Finding, Verdict, Verification

_ANSWERS = {
    Verdict.EQUAL: Asked.RAN,
    Verdict.LOSSY: Asked.RAN,
    Verdict.MISMATCH: Asked.RAN,
    Verdict.BUILT: Asked.BUILT,
}
_ROUNDED = ("auto", "full")  # a real engine says it itself
_RUN = (Verdict.EQUAL, Verdict.LOSSY, Verdict.INCONCLUSIVE)
_QUANTIZED = ("Quantize", "Dequantize", "QLinear", "QAttention", "QGemm", "Integer")


class Judged(Struct, frozen=True):
    """A result, and what an engine says of it and of the model as it came.

    Attributes:
        attempt: The result.
        known: What blocks it of the model as it came.
        engine: What the engine did; None without a target.
    """

    attempt: Attempt
    known: tuple[Finding, ...]
    engine: EngineAsked | None


def judged_by_engine(before: Original, attempt: Attempt) -> Judged:
    """Let the engine of this machine, and its arithmetic, have the last word on a result."""
    settings = attempt.settings
    did = Asked.NOT_RUN
    if settings.verify == "engine" and not attempt.broken:
        attempt, did = _compared(before, attempt)
    of_file = file_findings(before.validity.complaints, settings.target)
    known = (*of_file, *attempt.run.findings_before)
    if settings.installed:
        known, attempt = _loaded(before, attempt, known)
    if _rounds_to_float16(attempt):
        from graphfix.pipeline.float16 import in_float16

        known, attempt = in_float16(before, attempt, known)
    asked = engine_asked(attempt.run.model, settings, attempt.findings_after, did)
    return Judged(attempt, known, asked)


def _compared(before: Original, attempt: Attempt) -> tuple[Attempt, Asked]:
    """Compare a result in the engine; say what that did."""
    run = attempt.run
    for hook in run.hooks:
        hook.stage("engine")
    start = perf_counter()
    verification = verify_in_engine(
        before,
        run.model,
        attempt.settings,
        lossy=run.journal.labelled(LOSSY),
        prepared=run.prepared,
    )
    run.seconds["engine"] = perf_counter() - start
    did = _ANSWERS.get(verification.status, Asked.INCONCLUSIVE)
    if verification.status is Verdict.BUILT:
        verification = _built(attempt.verification, verification)
    return structs.replace(attempt, verification=verification), did


def _built(compared: Verification, built: Verification) -> Verification:
    """Return the verdict on a result that the engine builds, and that was compared elsewhere."""
    if compared.status is Verdict.EQUAL:
        return replace(
            built, method=compared.method, outputs=compared.outputs, samples=compared.samples
        )
    reason = "; ".join(filter(None, (compared.reason, built.reason)))
    return replace(compared, reason=reason)


def _loaded(
    before: Original, attempt: Attempt, known: tuple[Finding, ...]
) -> tuple[tuple[Finding, ...], Attempt]:
    """Add what the onnxruntime installed here says of the model and of the result."""
    settings, model = attempt.settings, attempt.run.model
    found = findings_of_loading(before.again(), original_on_disk(before), settings, known)
    if attempt.run.journal.applied_passes() or settings.shapes:
        file = on_disk(model.to_proto(), model.base_dir, spent=True)
        left = findings_of_loading(model, file, settings, attempt.findings_after)
    else:
        left = found
    added = structs.replace(attempt, file_findings=(*attempt.file_findings, *left))
    return (*known, *found), added


def _rounds_to_float16(attempt: Attempt) -> bool:
    """Say whether a result is to be run in float16: nothing else speaks against it.

    Nor has it quantized tensors: engines compute these in integers.
    """
    settings = attempt.settings
    target = settings.target
    if target is None or engine_of(target.family).arithmetic != ARITHMETIC:
        return False
    if settings.verify not in _ROUNDED or attempt.verification.status not in _RUN:
        return False
    if any(finding.blocks for finding in attempt.findings_after):
        return False
    nodes = attempt.run.model.nodes()
    return not any(part in node.op for node in nodes for part in _QUANTIZED)
