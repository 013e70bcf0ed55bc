"""Thresholds that no drawn input passes, as the score of a detector, moved alike in two models.

A detector of random or of trained weights finds nothing in numbers that are drawn, and its outputs
never move. What its thresholds are compared with is computed, and each is put where a tenth of
those numbers pass, in both models. Where they disagree then nothing is said: a pass may have folded
a threshold into something else.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx

from graphfix.errors import EngineFailed
from graphfix.operators.table import COMPARISONS
from graphfix.proving.inputs.uses import consumers
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.values.kinds import Array, Feed, Value, is_wide_float
from graphfix.proving.verdict.constants import Change, Constant, floats_of

_PASSING = 0.1
_MOST_NUMBERS = 2**22
_BELOW = frozenset({"Less", "LessOrEqual"})
_CONSTANT, _SUPPRESSION = "Constant", "NonMaxSuppression"
_SCORES, _SCORE = 1, 4  # inputs of NonMaxSuppression


def lowered(before: RunnableModel, after: RunnableModel, feed: Feed) -> Change | None:
    """Return a change of the thresholds that both models have; None where there are none.

    Args:
        before: The original.
        after: The result.
        feed: Inputs that the original runs on.
    """
    shared = floats_of(before, 1, 1) & floats_of(after, 1, 1)
    compared = {
        name: use
        for name, use in _thresholds(before.proto.graph).items()
        if any(name == constant for constant, _ in shared)
    }
    if not compared:
        return None
    found = _moved(before, compared, feed)
    return _put(found) if found else None


def _thresholds(graph: onnx.GraphProto) -> dict[str, tuple[str, bool]]:
    """Return what numbers are compared with: threshold -> tensor, and whether larger ones pass."""
    computed = {o for node in graph.node if node.op_type != _CONSTANT for o in node.output if o}
    found: dict[str, tuple[str, bool]] = {}
    for name, uses in consumers(graph).items():
        for use in uses:
            inputs = use.node.input
            if use.op in COMPARISONS - {"Equal"} and len(inputs) == 2:
                other, larger = inputs[1 - use.position], (use.op in _BELOW) != (use.position == 1)
            elif use.op == _SUPPRESSION and use.position == _SCORE:
                other, larger = inputs[_SCORES], True
            else:
                continue
            if other in computed:
                found.setdefault(name, (other, larger))
    return found


def _moved(
    model: RunnableModel, compared: Mapping[str, tuple[str, bool]], feed: Feed
) -> dict[str, float]:
    """Return where each threshold lets a tenth of the numbers pass."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model.proto)
    del copy.graph.output[:]
    copy.graph.output.extend(
        onnx.ValueInfoProto(name=name)
        for name in dict.fromkeys(tensor for tensor, _ in compared.values())
    )
    try:
        values = model.of(copy).open().run(feed)
    except EngineFailed:
        return {}
    found: dict[str, float] = {}
    for name, (tensor, larger) in compared.items():
        place = _place(values.get(tensor), larger=larger)
        if place is not None:
            found[name] = place
    return found


def _place(value: Value | None, *, larger: bool) -> float | None:
    """Return a number between two of an array, such that a tenth of it is beyond."""
    if not isinstance(value, np.ndarray) or not is_wide_float(value.dtype):
        return None
    numbers: Array = np.unique(value.reshape(-1)[:_MOST_NUMBERS].astype(np.float64))
    numbers = numbers[np.isfinite(numbers)]
    if numbers.size < 2:
        return None
    passing = max(1, int(numbers.size * _PASSING))
    at = numbers.size - passing if larger else passing
    return float((numbers[at - 1] + numbers[at]) / 2)


def _put(found: Mapping[str, float]) -> Change:
    def change(constant: Constant) -> Array | None:
        array = constant.array
        place = found.get(constant.name)
        if place is None or array.size != 1 or not is_wide_float(array.dtype):
            return None
        return np.full(array.shape, place, array.dtype)

    return change
