"""What the target's engine, and the arithmetic that it has, say of a file and of a result.

This is the one look at a result after the blame loop, which has proved it: nothing that is said
here leaves a pass out.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from msgspec import Struct, structs

from graphfix.engines.checking import check_alone, file_findings
from graphfix.engines.engine import Engine, engine_of
from graphfix.engines.interface import Loaded
from graphfix.engines.loading import Loading
from graphfix.errors import EngineFailed
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView
from graphfix.pipeline.blame import Attempt
from graphfix.pipeline.original import Original
from graphfix.pipeline.run import Run
from graphfix.pipeline.settings import Settings
from graphfix.pipeline.verifying import on_disk, original_on_disk, verify_in_engine
from graphfix.proving.whole.rounding import ARITHMETIC
from graphfix.report import LOSSY, Asked, EngineAsked, Finding, Verdict, Verification
from graphfix.validity.complaints import Complaint
from graphfix.worker.limits import Limits
from graphfix.worker.service import Crashed, ask

TASK = "graphfix.engines.loading:answer"
REFUSED = "does-not-load"
NOT_OPENED = "not-opened"
_SECONDS = 120.0


def findings_of_loading(
    model: Model,
    file: AbstractContextManager[Path],
    settings: Settings,
    known: Sequence[Finding],
) -> tuple[Finding, ...]:
    """Ask the engine installed here to load a model, where the target is that version.

    Its refusal is a finding, unless one that blocks names the node already, or the file where
    the engine names no node. A model with operators that are only assumed to be there is not
    asked about: they are not there.

    Args:
        model: The model, in which nodes are looked up.
        file: Gives it as a file.
        settings: What was asked for.
        known: What the rules found.
    """
    engine = _asked_engine(model, settings)
    if engine is None:
        return ()
    complaint = _complaint(engine, model, file, known)
    return () if complaint is None else file_findings((complaint,), settings.target)


def engine_asked(
    model: Model, settings: Settings, found: Sequence[Finding], did: Asked = Asked.NOT_RUN
) -> EngineAsked | None:
    """Say whether the target's engine was given a model, and what it did.

    Args:
        model: The model, which may be the result of a run.
        settings: What was asked for.
        found: What was found in it, the findings of loading included.
        did: What the engine did where `--verify engine` asked it.
    """
    if settings.target is None:
        return None
    engine = _asked_engine(model, settings)
    if did is not Asked.NOT_RUN or engine is None:
        family = engine_of(settings.target.family)
        taken = family.corpus.get(settings.target.name)
        unseen, not_so = (None, 0) if taken is None else (taken.unseen, taken.not_so)
        return EngineAsked(
            settings.target.title, did, guesses=family.guesses, unseen=unseen, not_so=not_so
        )
    title = f"{engine.name} {engine.installed()}"
    if any(each.rule == NOT_OPENED for each in found):
        return EngineAsked(title)
    if any(each.rule == REFUSED for each in found):
        return EngineAsked(title, Asked.REFUSED)
    # What it says of a node that a rule has found already is not reported again.
    blocked = any(each.blocks for each in found)
    return EngineAsked(title, Asked.INCONCLUSIVE if blocked else Asked.LOADED)


def _asked_engine(model: Model, settings: Settings) -> Engine | None:
    """Return the engine that is asked; None for none."""
    if not settings.installed or settings.target is None:
        return None
    views = (NodeView(node) for node in model.nodes())
    assumes = any(
        (view.domain, view.op) in settings.assumed or ("", view.op) in settings.assumed
        for view in views
    )
    return None if assumes else engine_of(settings.target.family)


def _complaint(
    engine: Engine, model: Model, file: AbstractContextManager[Path], known: Sequence[Finding]
) -> Complaint | None:
    name = f"the {engine.name} that is installed here"
    try:
        loaded = _asked(engine, model, file)
        version, said = loaded.version, loaded.refusal
    except Crashed as crash:
        said = str(crash)
        return Complaint(REFUSED, f"{name} crashes when it loads the model", None, said)
    except EngineFailed as failure:
        return Complaint(NOT_OPENED, f"{name} could not be asked: {failure}", None)
    if not said:
        return None
    op, node_name = engine.blamed(said)
    if _is_reported(said, op, node_name, known):
        return None
    view = _found(model, op, node_name)
    message = f"{engine.name} {version}, which is installed here, does not load the model"
    return Complaint(REFUSED, message, view, said)


def _asked(engine: Engine, model: Model, file: AbstractContextManager[Path]) -> Loaded:
    """Return the version of the engine, and why it refuses a model.

    Raises:
        EngineFailed: It crashed, or ran out of memory or time.
    """
    with file as path, tempfile.TemporaryDirectory(prefix="graphfix-") as folder:
        data = model.base_dir or str(path.parent)
        request = Loading(engine.family, path, data if model.has_external_data() else "")
        return ask(TASK, Path(folder), request, Limits(_SECONDS), Loaded)


def _is_reported(said: str, op: str, name: str, known: Sequence[Finding]) -> bool:
    blocking = [finding for finding in known if finding.blocks]
    if any(f"output arg ({given})" in said for each in blocking for given in each.node.outputs):
        return True
    if not op and not name:
        return any(not finding.node.op for finding in blocking)
    return any(
        (not op or finding.node.op == op) and (not name or finding.node.name == name)
        for finding in blocking
    )


def _found(model: Model, op: str, name: str) -> NodeView | None:
    """Return the node that is meant: the one of that name, or the only one of an operator."""
    if not op and not name:
        return None
    fitting = [
        node
        for node in model.nodes()
        if (not op or node.op == op) and (not name or node.name == name)
    ]
    if not fitting or (not name and len(fitting) > 1):
        return None
    return NodeView(fitting[0])


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
        known: What blocks the model as it came.
        engine: What the engine did; None without a target.
    """

    attempt: Attempt
    known: tuple[Finding, ...]
    engine: EngineAsked | None


def judged_by_engine(before: Original, attempt: Attempt) -> Judged:
    """Let the engine of this machine, and its arithmetic, have the last word on a result."""
    settings = attempt.settings
    did, reason = Asked.NOT_RUN, ""
    if settings.in_engine and not attempt.broken and _is_worth_asking(before, attempt):
        attempt, did, reason = _compared(before, attempt)
    of_file = file_findings(before.validity.complaints, settings.target)
    known = (*of_file, *attempt.run.findings_before)
    if settings.installed:
        known, attempt = _loaded(before, attempt, known)
    if did is not Asked.RAN and _rounds_to_float16(attempt):
        from graphfix.pipeline.float16 import in_float16

        known, attempt = in_float16(before, attempt, known)
    asked = engine_asked(attempt.run.model, settings, attempt.findings_after, did)
    return Judged(attempt, known, asked and replace(asked, said=reason))


def _is_worth_asking(before: Original, attempt: Attempt) -> bool:
    """Say whether the engine is given a result where only its being here says so.

    What rules find is left to be repaired first, and what takes minutes is for who wants it.
    """
    if attempt.settings.verify == "engine":
        return True
    from graphfix.proving.sites.cases import too_big  # a check comes here without it

    blocked = any(finding.blocks for finding in attempt.findings_after)
    return not blocked and not too_big(before.proto)


def _compared(before: Original, attempt: Attempt) -> tuple[Attempt, Asked, str]:
    """Compare a result in the engine; say what that did, and why nothing where nothing is shown."""
    run = attempt.run
    for hook in run.hooks:
        hook.stage("engine")
    start = perf_counter()
    answer = verify_in_engine(
        before,
        run.model,
        attempt.settings,
        lossy=run.journal.labelled(LOSSY) or _steps_are_consented_to(run),
        prepared=run.prepared,
    )
    run.seconds["engine"] = perf_counter() - start
    verification = answer.verification
    silent = Asked.REFUSED if answer.refused else Asked.INCONCLUSIVE
    did = _ANSWERS.get(verification.status, silent)
    if verification.status is Verdict.BUILT:
        verification = _built(attempt.verification, verification)
    elif did is Asked.INCONCLUSIVE and attempt.settings.verify != "engine":
        # What was shown without it stays shown.
        return attempt, did, verification.reason
    return structs.replace(attempt, verification=verification), did, ""


def _steps_are_consented_to(run: Run) -> bool:
    """Say whether a consent alone makes results right that may be a step of a quantizer away."""
    target = run.settings.target
    if target is None or not target.steps:
        return False
    exact = check_alone(run.model, replace(target, steps=False), run.settings.assumed)
    return any(finding.blocks for finding in exact.findings)


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
