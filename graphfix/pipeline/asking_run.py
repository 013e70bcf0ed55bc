"""A run that asks the target's engine, and repairs what it says no to until it says yes.

What the engine refuses or computes differently is narrowed to a node. The form of that node
becomes an answer of the target, so that a rule finds it like any other problem: each rewrite of the
operator is a candidate, and what one writes is judged by the same answers. A node that fails by
itself is repaired by itself first, until the engine takes that; then the model as it came is
repaired again. What the engine says of the node by itself holds for every node of that form;
where other nodes of it were taken, for those of the same sizes; and where the node is taken by
itself, in this place alone, until a second place shows that it is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from graphfix.analysis.inference import infer_model
from graphfix.engines.answer_examples import example_of
from graphfix.engines.answers import EngineAnswer
from graphfix.engines.kept_answers import KeptAnswers, keep_answers, kept_answers
from graphfix.engines.node_alone import model_of
from graphfix.engines.node_forms import form_text, is_of, sizes_text
from graphfix.engines.profile import Target
from graphfix.engines.targets import meant_by
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView
from graphfix.pipeline.engine_questions import Question, Said, said_to
from graphfix.pipeline.faults import Faults
from graphfix.pipeline.finishing import finish as finish_once
from graphfix.pipeline.hooks import Hook
from graphfix.pipeline.results import Result
from graphfix.pipeline.settings import Settings
from graphfix.pipeline.verifying import on_disk
from graphfix.report import Asked, Verdict

_SECONDS = 600.0
_SAMPLES = 3  # as many as the comparison in the engine takes


def finish_asking(
    model: Model,
    target: Target,
    settings: Settings,
    hooks: Sequence[Hook],
    finish: Callable[[Model, Settings], Result],
) -> Result:
    """Run, and where the target's engine is asked and says no, run once more with what it said.

    Args:
        model: The model, which is edited.
        target: Whose engine is asked.
        settings: What was asked for.
        hooks: Notified of asking.
        finish: Runs the passes over a model; raises what it raises.
    """
    known = kept_answers(target)
    asking = _Asking(target, settings, known)
    came = model.path, model.sha256, model.size, model.base_dir
    result = finish(model, asking.settings_now())
    if _says_no(result):
        for hook in hooks:
            hook.stage("ask")
        path, sha256, size, base_dir = came
        again = Model(result.original, path=path, sha256=sha256, size=size, base_dir=base_dir)
        if asking.about(again, result):
            result = finish(again, asking.settings_now())
    if known.engine:
        if result.report.verification.status is Verdict.EQUAL and not result.exit_code:
            infer_model(result.model)
            known.note_taken(NodeView(node) for node in result.model.nodes())
        keep_answers(target, known)
    return _counted(result, asking.questions)


def _says_no(result: Result) -> bool:
    """Say whether the engine was asked, and is at fault for what is left."""
    engine = result.report.engine
    if engine is None or any(finding.blocks for finding in result.report.findings_after):
        return False
    differs = result.report.verification.status is Verdict.MISMATCH
    return engine.did is Asked.REFUSED or (engine.did is Asked.RAN and differs)


def _counted(result: Result, questions: int) -> Result:
    engine = result.report.engine
    if engine is None:
        return result
    engine = replace(engine, questions=engine.questions + questions)
    return replace(result, report=replace(result.report, engine=engine))


@dataclass(slots=True)
class _Asking:
    """What an engine has said so far.

    Attributes:
        target: The target as it was given.
        settings: What was asked for.
        known: What it said in earlier runs; takes what it says now of every node of a form.
        here: What it said of single places of this model.
        questions: How often it was given a model.
    """

    target: Target
    settings: Settings
    known: KeptAnswers
    here: list[EngineAnswer] = field(default_factory=list[EngineAnswer])
    questions: int = 0

    def settings_now(self, verify: str = "") -> Settings:
        """Return the settings of a run for the target with what its engine said."""
        answers = (*self.target.answers, *self.known.answers, *self.here)
        target = replace(self.target, answers=answers)
        return replace(self.settings, target=target, verify=verify or self.settings.verify)

    def about(self, model: Model, first: Result) -> bool:
        """Ask about a result, repair what the engine names, and ask again, while that helps.

        Args:
            model: The model as it came; it is copied.
            first: What became of it.

        Returns:
            Whether it said anything that a run can make use of.
        """
        result, useful = first, False
        while self.questions < self.settings.questions:
            said = self._asked(result.model)
            if said.engine and said.engine != self.known.engine:
                # What another version said is nothing that this one was asked.
                useful = useful or bool(self.known.answers)
                self.known.engine, self.known.answers, self.known.taken = said.engine, [], {}
            found = answer_to(result.model, said, self.known)
            answer = self._wider(found)
            if answer is None or answer in (*self.known.answers, *self.here):
                break
            # What differs in two places may do so for their values, in float16 most of all.
            alone = found is not None and bool(found.place and found.difference)
            (self.here if answer.place or alone else self.known.answers).append(answer)
            useful = True
            if not answer.place:
                self._settle(result.model, said.blamed)
            result = finish_once(model.copy(), self.settings_now("off"), (), faults=Faults())
            if any(finding.blocks for finding in result.report.findings_after):
                break
        return useful

    def _settle(self, model: Model, outputs: Sequence[str]) -> None:
        """Repair a node that is refused by itself, and ask about that, before its model is.

        A rewrite that the engine refuses as well is found among a few nodes, not among all: such
        a one costs two questions or three, and one that it takes a single one.

        Args:
            model: The model that has it, types inferred.
            outputs: Of the node.
        """
        node = next((n for n in model.graph.nodes if outputs[0] in NodeView(n).ref().outputs), None)
        proto = None if node is None else model_of(NodeView(node))
        while proto is not None and self.questions < self.settings.questions:
            settings = replace(self.settings_now("off"), shapes={}, only=(), excepted=())
            result = finish_once(Model(proto), settings, (), faults=Faults())
            if any(finding.blocks for finding in result.report.findings_after):
                return
            answer = answer_to(result.model, self._asked(result.model, alone=True), self.known)
            if answer is None or answer.place or answer in self.known.answers:
                return
            self.known.answers.append(answer)

    def _wider(self, answer: EngineAnswer | None) -> EngineAnswer | None:
        """Return an answer that is of one place as one of its form, where it is the second such."""
        if answer is None or not answer.place:
            return answer
        places = {each.place for each in self.here if each.form == answer.form}
        return replace(answer, place=()) if places - {answer.place} else answer

    def _asked(self, model: Model, *, alone: bool = False) -> Said:
        """Ask about a model, and count how often the engine was given one.

        Args:
            model: The model.
            alone: Whether it is a node that was cut out, which is run once: whether values differ
                is asked in its place as well.
        """
        settings = self.settings
        with on_disk(model.to_proto(), model.base_dir) as path:
            question = Question(
                path.absolute(),
                self.target.family,
                meant_by(self.target, settings.capability, settings.standing),
                settings.seed,
                {} if alone else settings.shapes,
                most=settings.questions - self.questions,
                alone=True,
                samples=1 if alone else _SAMPLES,
            )
            said = said_to(question, _SECONDS)
        self.questions += said.questions
        return said


def answer_to(model: Model, said: Said, known: KeptAnswers) -> EngineAnswer | None:
    """Return what an engine said of a node as an answer; None where it names none.

    Args:
        model: The model that it was given.
        said: What it said.
        known: What it said in earlier runs.
    """
    if said.unasked or not said.blamed:
        return None
    infer_model(model)
    views = [NodeView(node) for node in model.graph.nodes]
    at_fault = next((view for view in views if said.blamed[0] in view.ref().outputs), None)
    if at_fault is None:
        return None
    answer = EngineAnswer(
        said.engine,
        at_fault.domain,
        at_fault.op,
        form_text(at_fault),
        refusal=said.refusal,
        difference="" if said.refusal else said.difference,
        example=example_of(at_fault),
        meaning="" if said.refusal else known.untaken_meaning(at_fault),
    )
    before = frozenset(said.taken)
    taken = [v for v in views if not before.isdisjoint(v.ref().outputs) and is_of(answer, v)]
    sizes = {*known.sizes_taken(at_fault), *map(sizes_text, taken)}
    if not said.fails_alone or sizes_text(at_fault) in sizes:
        return replace(answer, place=at_fault.ref().outputs)
    return replace(answer, sizes=sizes_text(at_fault)) if sizes else answer
