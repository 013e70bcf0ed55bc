"""Outputs that never move, such as the label of a network that always sees the same class.

Both models are run with the same constant changed in the same way. Where the output moves then, and
both models still agree, it has been compared. Where they disagree nothing is said: a pass may have
folded the constant into something else.

Constants are the same that hold the same: an engine without float16 is given other names and types.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256

import numpy as np
from msgspec import Struct

from graphfix.errors import EngineFailed
from graphfix.proving.inputs.uses import consumers
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.values.kinds import Array, Feed, Value, is_wide_float
from graphfix.proving.verdict import power
from graphfix.proving.verdict.constants import Change, Constant, changed, constants_of
from graphfix.proving.verdict.judge import Judge
from graphfix.proving.verdict.numbers import cap_of, compare
from graphfix.proving.verdict.observed import uninformative_reason
from graphfix.proving.whole.lowered_thresholds import lowered

_MOST_ELEMENTS = 2**20
_MOST_CONSTANTS = 4
_STEPS = (1.0, 10.0, 30.0)  # times what the constant holds
_SAMPLES = 2

Read = Callable[[dict[str, Value]], dict[str, Value]]


class Pair(Struct, frozen=True):
    """Two models on the same inputs.

    Attributes:
        before: The original.
        after: The result.
        feeds: Inputs of each, one pair per sample.
        read: What the result computed, as the original would give it.
    """

    before: RunnableModel
    after: RunnableModel
    feeds: Sequence[tuple[Feed, Feed]]
    read: Read


def agreeing(pair: Pair, silent: Mapping[str, bool], seconds: float) -> set[str]:
    """Return which outputs move with constants, and are the same in both models whenever they do.

    Args:
        pair: The models, in which the outputs are the same on all inputs.
        silent: The outputs that never moved, and whether their range is bounded.
        seconds: After these no further constant is changed.
    """
    seen: dict[str, list[Value]] = {name: [] for name in silent}
    noisy: set[str] = set()  # where they are the same within noise alone
    moved: set[str] = set()  # by more than that
    until = time.process_time() + seconds
    for change in (None, *_changes(pair)):
        if time.process_time() > until:
            break
        try:
            values = list(_values(pair, change))
            judge = _judged(pair, change, values)
        except EngineFailed:
            continue  # the change made a size or an axis impossible
        differs = _differ if judge is None else judge.differs
        for name in tuple(seen):
            if judge is not None and (name in judge.broken or judge.unstable):
                if not _is_unclear(judge, name, values[0][0][name]):
                    del seen[name]
                continue
            seen[name] += [before[name] for before, _ in values]
            if judge is not None:
                noisy.add(name)
            if any(differs({name: seen[name][0]}, {name: before[name]}) for before, _ in values):
                moved.add(name)
    return {
        name
        for name, values in seen.items()
        if (name in moved or name not in noisy)
        and not uninformative_reason(values, bounded=silent[name])
    }


def _is_unclear(judge: Judge, name: str, value: Value) -> bool:
    """Say whether an output differs by more than the noise that showed, and less than may be.

    Numbers that stay the same where weights move by one unit show none, large float16 among them.
    """
    relative = judge.worst.get(name, (None, None))[1]
    return (
        not judge.structural
        and not judge.unstable
        and relative is not None
        and isinstance(value, np.ndarray)
        and is_wide_float(value.dtype)
        and relative <= cap_of(value.dtype)
    )


def _judged(
    pair: Pair, change: Change | None, values: Sequence[tuple[dict[str, Value], dict[str, Value]]]
) -> Judge | None:
    """Return what holds both models to the noise of the original; None where they are the same.

    The noise is that of the original with the constant changed: the result may round less.
    """
    if not any(_differ(before, after) for before, after in values):
        return None
    original = pair.before if change is None else changed(pair.before, change)
    judge = Judge(original or pair.before)
    for (feed, _), (before, after) in zip(pair.feeds, values, strict=False):
        judge.take(feed, before, after)
    return judge


def noticed_past_thresholds(pair: Pair) -> bool:
    """Say whether both models agree with thresholds moved alike, and a change of 5% shows then.

    Args:
        pair: The models, in whose outputs no change showed as they are.
    """
    thresholds = lowered(pair.before, pair.after, pair.feeds[0][0])
    other = None if thresholds is None else changed(pair.after, thresholds)
    if thresholds is None or other is None:
        return False
    try:
        values = list(_values(pair, thresholds))
        if any(_differ(before, after) for before, after in values):
            return False
        expected = [before for before, _ in values]
        feeds = [feed for _, feed in pair.feeds[:_SAMPLES]]
        return bool(
            power.notices(
                other, other.open(), feeds, lambda n, got: _differ(expected[n], pair.read(got))
            )
        )
    except EngineFailed:
        return False


def _differ(before: Mapping[str, Value], after: Mapping[str, Value]) -> bool:
    return any(not compare(value, after.get(name)).equal for name, value in before.items())


def _values(
    pair: Pair, change: Change | None
) -> Iterator[tuple[dict[str, Value], dict[str, Value]]]:
    """Yield what both models give for each sample, with a constant changed in both."""
    one, two = pair.before, pair.after
    if change is not None:
        one, two = changed(one, change) or one, changed(two, change) or two
    before, after = one.open(), two.open()
    for feed, other in pair.feeds[:_SAMPLES]:
        yield before.run(feed), pair.read(after.run(other))


def _changes(pair: Pair) -> Iterator[Change]:
    """Yield changes of constants that both models have: thresholds, then those near the outputs."""
    thresholds = lowered(pair.before, pair.after, pair.feeds[0][0])
    if thresholds is not None:
        yield thresholds
    held = {_content(constant) for constant in _weights(pair.after)}
    shared = {c.name: c for c in _weights(pair.before) if _content(c) in held}
    graph = pair.before.proto.graph
    places = {node.output[0]: n for n, node in enumerate(graph.node) if node.output}
    readers = consumers(graph)
    last = {
        name: max((places.get(use.node.output[0], 0) for use in readers.get(name, ())), default=0)
        for name in shared
    }
    chosen = sorted(last, key=lambda name: (-last[name], name))[:_MOST_CONSTANTS]
    for step in _STEPS:
        for name in chosen:
            yield _moved(shared[name], step)


def _weights(model: RunnableModel) -> Iterator[Constant]:
    return (
        constant
        for constant in constants_of(model)
        if is_wide_float(constant.array.dtype) and 2 <= constant.array.size <= _MOST_ELEMENTS
    )


def _content(constant: Constant) -> tuple[tuple[int, ...], bytes]:
    """Return what a constant holds, whatever its type is."""
    array = constant.array
    return array.shape, sha256(array.astype(np.float64).tobytes()).digest()


def _moved(chosen: Constant, step: float) -> Change:
    """Return a change of all constants that hold what one does, to numbers of its type."""
    content, wide = _content(chosen), chosen.array.astype(np.float64)
    finite = np.abs(wide[np.isfinite(wide)])
    spread = float(finite.mean()) if finite.any() else 1.0
    rng = np.random.default_rng(int(step))
    with np.errstate(all="ignore"):
        moved = wide + step * spread * rng.standard_normal(wide.shape)
        new: Array = np.asarray(moved).astype(chosen.array.dtype)

    def change(constant: Constant) -> Array | None:
        array = constant.array
        if not is_wide_float(array.dtype) or array.shape != new.shape:
            return None
        return new.astype(array.dtype) if _content(constant) == content else None

    return change
