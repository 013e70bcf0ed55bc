"""Trying a model in an engine, and finding the node at fault; runs inside the child process."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from onnx import ModelProto, NodeProto

from graphfix.engines.engine import Engine, engine_of
from graphfix.engines.hosting.runner import turned
from graphfix.engines.hosting.warm import KeptWarm
from graphfix.errors import EngineFailed, GraphfixError, NoDevice
from graphfix.pipeline.engine_questions import Question, Said
from graphfix.pipeline.verifying import on_disk
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.values.kinds import Feed
from graphfix.proving.verdict.judge import Judge
from graphfix.proving.whole import loading
from graphfix.proving.whole.samples import Samples
from graphfix.reduction.cutting import Whole
from graphfix.reduction.search import first_place
from graphfix.reduction.tensor_types import Typist
from graphfix.worker.limits import Limits
from graphfix.worker.service import says_nothing

_PATIENCE = 120.0


def answer(folder: Path, question: Question, limits: Limits) -> Said:
    """Try a model in an engine, with inputs that onnxruntime runs it on.

    A model that onnxruntime does not run is not judged by what an engine does when it runs it.
    """
    engine = engine_of(question.family)
    with contextlib.closing(KeptWarm(engine, question.meant)) as warm:
        return _answered(folder, question, limits, engine, warm)


def _answered(
    folder: Path, question: Question, limits: Limits, engine: Engine, warm: KeptWarm
) -> Said:
    loaded = loading.load([question.model], Evaluators({}), limits.memory, folder, at_once=True)
    if isinstance(loaded, str):
        return Said(unasked=loaded)
    original = loaded[0]
    maker = FeedMaker(original.proto, question.seed, question.shapes)
    with np.errstate(all="ignore"):
        samples = None
        try:
            samples = Samples(original.proto, original.open(), maker, None, _PATIENCE)
            drawn = samples.next(0)
            last = samples.last_error
        except EngineFailed as error:
            drawn, last = None, error
        if drawn is not None and samples is not None:
            further = (samples.next(each) for each in range(1, question.samples))
            feeds = (each[0] for each in further if each is not None)
            return _Trial(engine, question, original, drawn[0], warm).on_all(feeds)
        reason = last.message if last is not None else "no input was found"
        try:
            feed = samples.last_feed if samples is not None else None
            trial = _Trial(engine, question, original, feed or maker.draw(0), warm, runs=False)
            said = trial.whole()
        except EngineFailed as error:
            return Said(unasked=error.message)
        if said.refusal:
            return said
        return replace(said, unasked=f"onnxruntime does not run the model: {reason}")


class _OutOfQuestions(Exception):  # noqa: N818 - an answer, not an error
    """Raised where the engine was given as many models as it may be."""


@dataclass(slots=True)
class _Trial:
    """One model, one input set, and the engine; which only loads it where it runs nowhere else."""

    engine: Engine
    question: Question
    original: RunnableModel
    feed: Feed
    warm: KeptWarm
    runs: bool = True
    name: str = field(default="", init=False)
    questions: int = field(default=0, init=False)
    taken: tuple[str, ...] = field(default=(), init=False)

    def on_all(self, further: Iterable[Feed]) -> Said:
        """Try the model on an input set, and on further ones while the engine says nothing."""
        said = self.whole()
        for feed in further:
            if said.refusal or said.difference or not self.runs:
                break
            self.feed = feed
            said = self.whole()
        return said

    def whole(self) -> Said:
        """Try the model, and if it fails the beginnings of it, for the shortest that does."""
        proto = self.original.proto
        refusal, difference = self._objection(proto)
        if not refusal and not difference:
            return Said(self.name, only_loaded=not self.runs, questions=self.questions)
        blamed: tuple[str, ...] = ()
        alone = ("", "")
        try:
            node = self._named(refusal) or self._shortest(refused=bool(refusal))
            if node is not None and self.question.alone:
                alone = self._alone(node)
            blamed = tuple(name for name in node.output if name) if node is not None else ()
        except _OutOfQuestions:
            pass
        # What it says of the node alone is of that node; of the whole it may say something else.
        fails_alone = bool(alone[0] if refusal else alone[1])
        return Said(
            self.name,
            alone[0] if refusal and fails_alone else refusal,
            alone[1] if not refusal and fails_alone else difference,
            blamed,
            questions=self.questions,
            taken=self.taken,
            fails_alone=fails_alone,
        )

    def _alone(self, node: NodeProto) -> tuple[str, str]:
        """Return what the engine objects to a node by itself, given what it gets in the model."""
        whole = self._parts()
        made = next(name for name in node.output if name)
        part = None if whole is None else whole.part([whole.scope.makers[made][0]])
        if part is None:
            return "", ""
        if any(info.type.HasField("sequence_type") for info in part.graph.input):
            return "", ""  # engines in processes of their own are given none
        wanted = [info for info in part.graph.input if info.name not in self.feed]
        try:
            values: Feed = {}
            if wanted:
                more = ModelProto()
                more.CopyFrom(self.original.proto)
                del more.graph.output[:]
                more.graph.output.extend(wanted)
                values = self.original.of(more).open().run(self.feed)
            return self._objection(part, values)
        except EngineFailed:
            return "", ""

    def _parts(self) -> Whole | None:
        """Return the model for taking parts of it; None where its types do not follow."""
        proto = self.original.proto
        try:
            return Whole(proto, Typist(self.original.folder).inferred(proto))
        except GraphfixError:
            return None

    def _objection(self, proto: ModelProto, values: Feed | None = None) -> tuple[str, str]:
        """Return why the engine refuses a model, or how its values differ.

        Args:
            proto: The model.
            values: What it is given apart from the inputs of the whole.
        """
        most = self.question.most
        if most and self.questions >= most:
            raise _OutOfQuestions
        self.questions += 1
        feed = {**self.feed, **(values or {})}
        with ExitStack() as stack:
            path = stack.enter_context(on_disk(proto, self.original.folder))
            given = {i.name: feed[i.name] for i in proto.graph.input if i.name in feed}
            try:
                runner = self.engine.open(proto, path, self.warm.meant())
                stack.callback(getattr(runner, "close", _nothing))
                self.name = self.name or runner.name
                if not self.runs:
                    load = getattr(runner, "load", None)
                    if load is not None:
                        load(_shapes(given))
                    return "", ""
                ran = [(given, runner.run(given))]
                other = turned(given)
                with contextlib.suppress(EngineFailed):  # what it keeps of a run shows in the next
                    ran.append((other, runner.run(other)))
            except NoDevice:
                self.runs = False
                return "", ""
            except EngineFailed as failure:
                if says_nothing(failure):
                    raise
                return failure.message, ""
            self.name = runner.name
        model = self.original.of(proto)
        judge = Judge(model, other_kernels=True, arithmetic=self.engine.arithmetic)
        with contextlib.suppress(EngineFailed):  # a part that onnxruntime does not run says nothing
            first = model.open()
            for fed, got in ran:
                judge.take(fed, first.run(fed), got)
        return "", "; ".join(f"{name}: {reason}" for name, reason in judge.broken.items())

    def _named(self, refusal: str) -> NodeProto | None:
        """Return the node that the engine's words name, where that is one alone."""
        op, name = self.engine.blamed(refusal) if refusal else ("", "")
        if not name and not op:
            return None
        found = [
            node
            for node in self.original.proto.graph.node
            if (not op or node.op_type == op) and (not name or name in (node.name, *node.output))
        ]
        return found[0] if len(found) == 1 else None

    def _shortest(self, *, refused: bool) -> NodeProto | None:
        """Return the last node of the shortest beginning that fails in the same way."""
        whole = self._parts()
        if whole is None:
            return None
        order = list(whole.scope.order)

        def fails(count: int) -> bool | None:
            part = whole.part(order[:count])
            if part is None:
                return None
            said = self._objection(part)
            return bool(said[0] if refused else said[1])

        if len(order) < 2:
            return whole.scope.nodes[order[0]] if order else None
        last = first_place(0, len(order), fails) - 1
        before = (whole.scope.nodes[each] for each in order[:last])
        self.taken = tuple(name for node in before for name in node.output if name)
        return whole.scope.nodes[order[last]]


def _shapes(feed: Feed) -> dict[str, list[int]]:
    arrays = {name: value for name, value in feed.items() if isinstance(value, np.ndarray)}
    return {name: list(array.shape) for name, array in arrays.items()}


def _nothing() -> None:
    """Close a runner that needs no closing."""
