"""How far outputs are apart, each by the largest number in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, cast

import numpy as np

from graphfix.proving.values.kinds import Array, is_floating
from graphfix.report import OutputDifference, Verdict

Outputs = Sequence[Mapping[str, Any]]


def output_differences(
    wanted: Outputs, given: Outputs, tolerance: Callable[[str], float]
) -> tuple[OutputDifference, ...]:
    """Compare outputs, sample by sample; what is no float has to be the same.

    Args:
        wanted: The outputs by name, for each sample; all that are in the first are looked at.
        given: What is held to them.
        tolerance: Name of a float type -> how far numbers may be apart, of the largest number.
    """
    return tuple(
        _row(name, [(a[name], b.get(name)) for a, b in zip(wanted, given, strict=True)], tolerance)
        for name in wanted[0]
    )


def _row(
    name: str, pairs: Sequence[tuple[Any, Any]], tolerance: Callable[[str], float]
) -> OutputDifference:
    most, share, allowed = 0.0, 0.0, 0.0
    for one, two in pairs:
        if not isinstance(one, np.ndarray) or not isinstance(two, np.ndarray):
            return OutputDifference(name, None, None, Verdict.MISMATCH)
        left, right = cast("Array", one), cast("Array", two)
        if left.shape != right.shape or left.dtype.kind != right.dtype.kind:
            return OutputDifference(name, None, None, Verdict.MISMATCH)
        if is_floating(left.dtype):
            moved, scale = _moved(left, right)
            most = max(most, moved)
            share = max(share, 0.0 if not moved else moved / scale if scale else inf)
            allowed = tolerance(left.dtype.name)
        elif not np.array_equal(left, right):
            return OutputDifference(name, None, None, Verdict.MISMATCH)
    status = Verdict.EQUAL if share <= allowed else Verdict.MISMATCH
    return OutputDifference(name, most, share, status)


def _moved(one: Array, two: Array) -> tuple[float, float]:
    """Return the largest difference, and the largest finite number of the first."""
    left, right = np.asarray(one, np.float64), np.asarray(two, np.float64)
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    with np.errstate(invalid="ignore"):
        moved = np.where(same, 0.0, np.abs(left - right))
    moved = np.where(np.isnan(moved), inf, moved)
    finite = np.abs(np.where(np.isfinite(left), left, 0.0))
    return float(moved.max(initial=0.0)), float(finite.max(initial=0.0))
