"""What the engine itself says of a file, as findings next to those of the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphfix.engines.checking import file_findings
from graphfix.engines.profile import Target
from graphfix.engines.targets import meant_by
from graphfix.ir.model import Model
from graphfix.ir.operator_aliases import treated
from graphfix.ir.views import NodeView
from graphfix.pipeline.engine_questions import Question, Said, said_to
from graphfix.pipeline.engine_verdict import NOT_OPENED, REFUSED
from graphfix.pipeline.files import CheckRequest, CheckResult
from graphfix.pipeline.model_files import as_model, guarded
from graphfix.pipeline.settings import check_engine
from graphfix.pipeline.verifying import as_it_came
from graphfix.report import Asked, EngineAsked, Finding
from graphfix.validity.complaints import Complaint

DIFFERENT = "computes-otherwise"
_SECONDS = 3600.0


@guarded
def with_engine(request: CheckRequest, result: CheckResult) -> CheckResult:
    """Add what the target's engine on this machine says of a file to what the rules say.

    It loads the file as it is and runs it. A refusal is a finding at the node that its message
    names, or else at the last node of the shortest beginning of the model that is refused; so are
    numbers that differ from those of onnxruntime. What a rule says of the same node already is not
    said twice.

    Args:
        request: What was asked for.
        result: What the rules found.

    Raises:
        UsageError: Nothing runs models in the engine, or this machine does not have it.
        InvalidModel: The file is not a model.
    """
    if result.engine is not None and result.engine.did is not Asked.NOT_RUN:
        name = result.engine.title
        note = f"--verify engine adds nothing: {name} loads every file that is checked for it"
        return replace(result, notes=(*result.notes, note))
    check_engine(result.target)
    model, _ = treated(as_model(request.model), request.treat_as)
    shapes = {name: tuple(sizes) for name, sizes in request.shapes.items()}
    said = _asked(model, result.target, request, shapes)
    complaints = _complaints(said, model, result.target, result.findings)
    found = (*result.findings, *file_findings(complaints, result.target))
    notes = (*result.notes, _note(said, reported=bool(complaints)))
    engine = EngineAsked(said.engine or result.target.title, _did(said))
    return replace(result, findings=found, notes=notes, engine=engine)


def _asked(
    model: Model, target: Target, request: CheckRequest, shapes: dict[str, tuple[int, ...]]
) -> Said:
    meant = meant_by(target, request.compute_capability)
    file = as_it_came(model.proto, model.path, model.sha256, model.base_dir)
    with file as path:
        question = Question(path.absolute(), target.family, meant, request.seed, shapes)
        return said_to(question, _SECONDS)


def _complaints(
    said: Said, model: Model, target: Target, known: Sequence[Finding]
) -> tuple[Complaint, ...]:
    name = said.engine or target.title
    if said.unasked:
        return (Complaint(NOT_OPENED, f"{target.title} could not be asked: {said.unasked}", None),)
    if not said.refusal and not said.difference:
        return ()
    if said.blamed and any(f.blocks and said.blamed == f.node.outputs for f in known):
        return ()
    view = _node(model, said.blamed)
    if said.refusal:
        return (Complaint(REFUSED, f"{name} does not take the model", view, said.refusal),)
    message = f"{name} computes different values than onnxruntime: {said.difference}"
    return (Complaint(DIFFERENT, message, view),)


def _node(model: Model, outputs: Sequence[str]) -> NodeView | None:
    for node in model.graph.nodes if outputs else ():
        if any(tensor.name == outputs[0] for tensor in node.outputs):
            return NodeView(node)
    return None


def _did(said: Said) -> Asked:
    if said.unasked:
        return Asked.NOT_RUN
    if said.refusal:
        return Asked.REFUSED
    return Asked.BUILT if said.only_loaded else Asked.RAN


def _note(said: Said, *, reported: bool) -> str:
    name = said.engine or "the engine"
    if said.unasked:
        return f"{name} could not be asked"
    if said.refusal:
        return f"{name} was asked: it does not take the model" + (
            "" if reported else f": {said.refusal}"
        )
    if said.difference:
        return f"{name} was run: it accepts the model and computes different values"
    if said.only_loaded:
        return f"{name} was asked: it takes the model, and has no device here to run it on"
    return f"{name} was asked: it takes the model and computes what onnxruntime does"
