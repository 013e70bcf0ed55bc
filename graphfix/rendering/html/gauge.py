"""The worst error of a proof as a small plot: where it lies between rounding and 100%."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, log10

from graphfix.proving.layers.comparison import Layer
from graphfix.rendering.wording import number
from graphfix.report import Certificate, OutputDifference

_LOW, _HIGH = -9, 0  # powers of ten


@dataclass(frozen=True, slots=True)
class Gauge:
    """A mark on a scale of powers of ten.

    Attributes:
        share: Where the mark is, from 0 (no difference) to 1 (100% or no number).
        text: The error in words.
        wrong: Whether it is too much.
    """

    share: float
    text: str
    wrong: bool


def gauge(found: Certificate | OutputDifference | Layer, *, wrong: bool) -> Gauge | None:
    """Return the largest relative difference on its scale; None where none was measured."""
    worst = found.max_rel
    if worst is None:
        return None
    text = f"worst error: {number(worst)} relative, {number(found.max_abs)} absolute"
    if not isfinite(worst):
        return Gauge(1.0, text, wrong)
    power = _LOW if worst <= 0 else log10(worst)
    return Gauge((min(max(power, _LOW), _HIGH) - _LOW) / (_HIGH - _LOW), text, wrong)
