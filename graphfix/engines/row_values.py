"""What the condition of a row looks for: names and spans of numbers, as its text says."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
from msgspec import Struct

from graphfix.ir.views import Array

_NUMBER = r"-?\d+(?:\.\d+)?"
_SPAN = re.compile(rf"(?P<low>{_NUMBER})?\.\.(?P<high>{_NUMBER})?")
_BELOW = re.compile(rf"<(?P<end>{_NUMBER})")


class Sought(Struct, frozen=True):
    """Names and spans of numbers, one of which is looked for.

    Attributes:
        negated: Whether it is any other value that is looked for.
        names: The names.
        spans: Both ends of each span of numbers; they belong to it.
        below: What is greater than the numbers looked for.
    """

    negated: bool
    names: frozenset[str]
    spans: tuple[tuple[float, float], ...]
    below: tuple[float, ...]

    @property
    def is_plain(self) -> bool:
        """Whether it is one name alone that is looked for."""
        return len(self.names) == 1 and not self.spans and not self.below

    def takes(self, value: object) -> bool:
        """Say whether a value is what is looked for."""
        if isinstance(value, str):
            return (value in self.names) is not self.negated
        if not isinstance(value, int | float):
            return False
        held = any(low <= value <= high for low, high in self.spans)
        return (held or any(value < end for end in self.below)) is not self.negated

    def takes_some(self, array: Array) -> bool:
        """Say whether an element of an array of numbers is what is looked for."""
        held = np.zeros(array.shape, bool)
        for low, high in self.spans:
            held |= (array >= low) & (array <= high)
        for end in self.below:
            held |= array < end
        return bool((~held if self.negated else held).any())


@cache
def sought(text: str) -> Sought | None:
    """Read ``cubic, bicubic``, ``5``, ``2..4``, ``..4``, ``<0`` or ``not 1``; None for nothing."""
    names, spans, below = set[str](), list[tuple[float, float]](), list[float]()
    plain = text.removeprefix("not ")
    for each in plain.split(","):
        part = each.strip()
        span, end = _SPAN.fullmatch(part), _BELOW.fullmatch(part)
        if span is not None and (span["low"] or span["high"]):
            spans.append((float(span["low"] or "-inf"), float(span["high"] or "inf")))
        elif end is not None:
            below.append(float(end["end"]))
        elif re.fullmatch(_NUMBER, part):
            spans.append((float(part), float(part)))
        elif re.fullmatch(r"\w+", part):
            names.add(part)
        else:
            return None
    return Sought(plain != text, frozenset(names), tuple(spans), tuple(below))
