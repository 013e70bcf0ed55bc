"""Trying a model in an engine, and finding the node at fault; runs inside the child process."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from onnx import ModelProto, NodeProto

from graphfix.bisection.asking.said import Question, Said
from graphfix.engines.engine import Engine, engine_of
from graphfix.engines.interface import Meant
from graphfix.errors import EngineFailed, GraphfixError, NoDevice, NoEngine
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

_PATIENCE = 120.0


def answer(folder: Path, question: Question, limits: Limits) -> Said:
    """Try a model in an engine, with inputs that onnxruntime runs it on.

    A model that onnxruntime does not run is not judged by what an engine does when it runs it.
    """
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
        engine = engine_of(question.family)
        if drawn is not None:
            return _Trial(engine, question.meant, original, drawn[0]).whole()
        reason = last.message if last is not None else "no input was found"
        try:
            feed = samples.last_feed if samples is not None else None
            trial = _Trial(engine, question.meant, original, feed or maker.draw(0), runs=False)
            said = trial.whole()
        except EngineFailed as error:
            return Said(unasked=error.message)
        if said.refusal:
            return said
        return replace(said, unasked=f"onnxruntime does not run the model: {reason}")


@dataclass(slots=True)
class _Trial:
    """One model, one input set, and the engine; which only loads it where it runs nowhere else."""

    engine: Engine
    meant: Meant
    original: RunnableModel
    feed: Feed
    runs: bool = True
    name: str = field(default="", init=False)

    def whole(self) -> Said:
        """Try the model, and if it fails the beginnings of it, for the shortest that does."""
        proto = self.original.proto
        refusal, difference = self._objection(proto)
        if not refusal and not difference:
            return Said(self.name, only_loaded=not self.runs)
        node = self._named(refusal) or self._shortest(refused=bool(refusal))
        blamed = tuple(name for name in node.output if name) if node is not None else ()
        return Said(self.name, refusal, difference, blamed)

    def _objection(self, proto: ModelProto) -> tuple[str, str]:
        """Return why the engine refuses a model, or how its values differ."""
        with ExitStack() as stack:
            path = stack.enter_context(on_disk(proto, self.original.folder))
            given = {i.name: self.feed[i.name] for i in proto.graph.input if i.name in self.feed}
            try:
                runner = self.engine.open(proto, path, self.meant)
                stack.callback(getattr(runner, "close", _nothing))
                self.name = self.name or runner.name
                if not self.runs:
                    load = getattr(runner, "load", None)
                    if load is not None:
                        load(_shapes(given))
                    return "", ""
                got = runner.run(given)
            except NoDevice:
                self.runs = False
                return "", ""
            except NoEngine:
                raise  # it was not asked
            except EngineFailed as failure:
                return failure.message, ""
            self.name = runner.name
        model = self.original.of(proto)
        try:
            expected = model.open().run(given)
        except EngineFailed:
            return "", ""  # a part that onnxruntime does not run says nothing
        judge = Judge(model, other_kernels=True, arithmetic=self.engine.arithmetic)
        judge.take(given, expected, got)
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
        proto = self.original.proto
        try:
            whole = Whole(proto, Typist(self.original.folder).inferred(proto))
        except GraphfixError:
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
        return whole.scope.nodes[order[first_place(0, len(order), fails) - 1]]


def _shapes(feed: Feed) -> dict[str, list[int]]:
    arrays = {name: value for name, value in feed.items() if isinstance(value, np.ndarray)}
    return {name: list(array.shape) for name, array in arrays.items()}


def _nothing() -> None:
    """Close a runner that needs no closing."""
