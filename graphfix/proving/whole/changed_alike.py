"""Outputs that never move, such as the label of a network that always sees the same class.

Both models are run with the same constant changed in the same way. Where the output moves then, and
both models still agree, it has been compared. Where they disagree nothing is said: a pass may have
folded the constant into something else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct

from graphfix.errors import EngineFailed
from graphfix.proving.inputs.uses import consumers
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.values.kinds import Array, Feed, Value, is_wide_float
from graphfix.proving.verdict import power
from graphfix.proving.verdict.constants import Change, Constant, changed, floats_of
from graphfix.proving.verdict.numbers import compare
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
    until = time.process_time() + seconds
    for change in (None, *_changes(pair)):
        if time.process_time() > until:
            break
        try:
            values = list(_values(pair, change))
        except EngineFailed:
            continue  # the change made a size or an axis impossible
        for before, after in values:
            for name in tuple(seen):
                seen[name].append(before[name])
                if not compare(before[name], after.get(name)).equal:
                    del seen[name]
    return {
        name
        for name, values in seen.items()
        if not uninformative_reason(values, bounded=silent[name])
    }


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
    one, two = (floats_of(model, 2, _MOST_ELEMENTS) for model in (pair.before, pair.after))
    shared = one & two
    graph = pair.before.proto.graph
    places = {node.output[0]: n for n, node in enumerate(graph.node) if node.output}
    readers = consumers(graph)
    last = {
        name: max((places.get(use.node.output[0], 0) for use in readers.get(name, ())), default=0)
        for name, _ in shared
    }
    chosen = sorted(last, key=lambda name: (-last[name], name))[:_MOST_CONSTANTS]
    for step in _STEPS:
        for name in chosen:
            yield _moved(name, step)


def _moved(name: str, step: float) -> Change:
    def change(constant: Constant) -> Array | None:
        array = constant.array
        if constant.name != name or not is_wide_float(array.dtype):
            return None
        rng = np.random.default_rng(int(step))
        wide = array.astype(np.float64)
        finite = np.abs(wide[np.isfinite(wide)])
        spread = float(finite.mean()) if finite.any() else 1.0
        with np.errstate(all="ignore"):
            moved = wide + step * spread * rng.standard_normal(array.shape)
            return np.asarray(moved).astype(array.dtype)

    return change
