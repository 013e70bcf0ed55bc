"""Two whole models made ready to be compared: loaded, fed alike, with samples to draw."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from onnx import ModelProto

from graphfix.errors import EngineFailed
from graphfix.operators.written_buffers import giving_buffers
from graphfix.proving.inputs.exhaustive import every_feed
from graphfix.proving.inputs.maker import FeedMaker, static_limits
from graphfix.proving.inputs.room import Room
from graphfix.proving.runners.engine import Engine, MissingOperator
from graphfix.proving.runners.evaluators import COPIES, weight_bytes
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.whole import randomness
from graphfix.proving.whole.drawing import Chance, Drawing, judged_draws
from graphfix.proving.whole.interface import Interface, compare_interfaces
from graphfix.proving.whole.options import ComparisonOptions
from graphfix.proving.whole.samples import Samples
from graphfix.report import Verdict, Verification

_WATCHED, _SECONDS = 0.3, 1.5  # the part of the time in which a run is watched, and the most


@dataclass(slots=True)
class Task:
    """Two models and how to compare them.

    Attributes:
        scratch: A folder for values that are too big to be kept in memory.
        memory: The bytes that both may take; None where no one says.
        room: What was found of the memory that they need, once they are prepared.
    """

    before: RunnableModel
    after: RunnableModel
    options: ComparisonOptions = field(default_factory=ComparisonOptions)
    scratch: Path | None = None
    memory: int | None = None
    room: Room | None = None

    @property
    def patience(self) -> float:
        """The seconds in which samples are drawn: half of all, since these are then compared."""
        return self.options.timeout / 2


@dataclass(slots=True)
class Prepared:
    """Two models that are loaded and agree on how to be fed."""

    interface: Interface
    before: Engine
    after: Engine
    samples: Samples
    chance: Chance | None = None


def prepare(task: Task) -> Prepared | Verification:
    """Load both models; a verdict where they cannot be compared.

    Models that draw random numbers are replaced in the task by ones that are fed with them.
    """
    after = task.after.proto
    before = giving_buffers(task.before.proto, after)
    task.before = task.before.of(before)
    interface = compare_interfaces(before, after)
    if interface.wrong:
        return Verification(Verdict.MISMATCH, interface.wrong, "interface")
    cut = randomness.without_random(before, after)
    if cut.reason:
        return Verification(Verdict.INCONCLUSIVE, cut.reason, "interface")
    maker = _maker(task, before, after)
    source, chance = None, None
    try:
        if cut.before is not None and cut.after is not None and cut.source is not None:
            source = task.before.of(cut.source).open()
            chance = Chance(task.before, task.after, cut.nodes)
            task.before, task.after = task.before.of(cut.before), task.after.of(cut.after)
            if not cut.before.graph.output:
                return _drawn_alone(source, chance, task)
        original = task.before.open()
    except MissingOperator as error:
        reason = f"the original cannot be run, no engine has {error.key[1]}: {error.message}"
        return Verification(Verdict.SKIPPED, reason)
    except EngineFailed as error:
        return Verification(Verdict.SKIPPED, f"the original cannot be run: {error.message}")
    try:
        result = task.after.open()
    except MissingOperator as error:
        reason = f"no engine has {error.key[1]} of the result: {error.message}"
        return Verification(Verdict.INCONCLUSIVE, reason, original.name)
    except EngineFailed as error:
        return Verification(Verdict.MISMATCH, f"the result does not load: {error.message}")
    drawing: Engine = original
    if source is not None and chance is not None:
        drawing = Drawing(source, original, cut.names, chance)
    # With numbers drawn at random the inputs are not all that there is.
    listed = source is None and not task.options.ranges
    every = every_feed(before) if listed else None
    weights = COPIES * (weight_bytes(before) + weight_bytes(after))
    task.room = Room(before, task.memory, weights)
    samples = Samples(
        before,
        drawing,
        maker,
        task.options.inputs,
        task.patience,
        every,
        task.room,
        smallest_first=task.options.smallest,
        repeating=chance is None,
    )
    return Prepared(interface, original, result, samples, chance)


def _maker(task: Task, before: ModelProto, after: ModelProto) -> FeedMaker:
    options = task.options
    return FeedMaker(
        before, options.seed, options.bindings, static_limits(after), dict(options.ranges)
    )


def node_at_work(task: Task) -> str:
    """Return at which node a model is at work after a part of the time; empty if none is found.

    The process is to end after it.
    """
    from graphfix.proving.runners.node_at_work import StillAtWork, WatchedEngine

    before, after = task.before.proto, task.after.proto
    maker = _maker(task, before, after)
    scratch = task.scratch or Path()
    seconds = min(_WATCHED * task.options.timeout, _SECONDS)
    try:
        engine = WatchedEngine(task.before, scratch, seconds)
        drawn = Samples(before, engine, maker, task.options.inputs, task.patience).next(0)
        if drawn is None:
            return ""
        result = WatchedEngine(task.after, scratch, seconds)
        result.run(compare_interfaces(before, after).fed(drawn[0]))
    except StillAtWork as found:
        return found.at
    except EngineFailed:
        return ""
    return ""


def _drawn_alone(source: Engine, chance: Chance, task: Task) -> Verification:
    """Return the verdict on models of which every output is drawn at random."""
    whole = chance.before.proto
    maker = _maker(task, whole, chance.after.proto)
    drawing = Drawing(source, source, (), chance)
    samples = Samples(whole, drawing, maker, task.options.inputs, task.patience)
    if samples.next(0) is None:
        error = samples.last_error
        text = error.message if error is not None else "no sample"
        return Verification(Verdict.SKIPPED, f"the original cannot be run: {text}")
    return judged_draws(chance, source.name, "every output is drawn at random")
