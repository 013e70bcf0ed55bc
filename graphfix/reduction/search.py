"""Searches that ask few questions: for a border, and for what may be left out of a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")

# How many neighbours of a place are looked at where a question has no answer.
_NEIGHBOURS = 64


def first_place(low: int, high: int, probe: Callable[[int], bool | None]) -> int:
    """Return a place where `probe` says yes though it says no at the last place asked before.

    Args:
        low: Where it says no.
        high: Where it says yes.
        probe: Says yes or no of a place between; None where it cannot tell.
    """
    while high - low > 1:
        for place in _around((low + high) // 2, low, high):
            found = probe(place)
            if found is not None:
                break
        else:
            return high
        if found:
            high = place
        else:
            low = place
    return high


def _around(middle: int, low: int, high: int) -> Iterator[int]:
    """Walk the places strictly between two, from the middle outwards, as far as is worth it."""
    yield middle
    for distance in range(1, _NEIGHBOURS // 2 + 1):
        for place in (middle + distance, middle - distance):
            if low < place < high:
                yield place


def shortened(items: Sequence[Item], accepts: Callable[[list[Item]], bool]) -> list[Item]:
    """Return what is left of a list when nothing more can be left out of it.

    Delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input",
    2002) on complements: ever smaller runs of items are left out, from the end, until no single
    item can be.

    Args:
        items: The list, of which `accepts` is true.
        accepts: Says whether a shorter list will do.
    """
    left = list(items)
    size = (len(left) + 1) // 2
    while size:
        before = len(left)
        end = len(left)
        while end > 0:
            start = max(0, end - size)
            candidate = left[:start] + left[end:]
            if accepts(candidate):
                left = candidate
            end = start
        size = 1 if size == 1 and len(left) < before else size // 2
    return left
