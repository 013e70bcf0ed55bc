"""From a failing input to a smaller one that fails as well."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from graphfix.proving.values.kinds import Array, Feed

MOST_RUNS = 80
Fails = Callable[[Feed], bool]


def shrink(feed: Feed, fails: Fails, seconds: float = 1.0) -> Feed:
    """Set to zero what can be zero without the failure going away.

    Args:
        feed: An input set that fails; it is not changed.
        fails: Runs both sides.
        seconds: How long to try.
    """
    search = _Search(dict(feed), fails, time.monotonic() + seconds)
    for name in feed:
        search.reduce(name)
    return search.feed


class _Search:
    def __init__(self, feed: Feed, fails: Fails, deadline: float) -> None:
        self.feed = feed
        self._fails = fails
        self._deadline = deadline
        self._left = MOST_RUNS

    def reduce(self, name: str) -> None:
        value = self.feed[name]
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiu" or not value.size:
            return
        if self._take(name, np.zeros_like(value)):
            return
        step = value.size
        while step >= 1:
            array = self.feed[name]
            assert isinstance(array, np.ndarray)
            places = np.flatnonzero(array.reshape(-1))
            for start in range(0, len(places), step):
                if not self._left or time.monotonic() > self._deadline:
                    return
                current = self.feed[name]
                assert isinstance(current, np.ndarray)
                smaller = current.copy()
                smaller.reshape(-1)[places[start : start + step]] = 0
                self._take(name, smaller)
            step //= 2

    def _take(self, name: str, smaller: Array) -> bool:
        if not self._left or time.monotonic() > self._deadline:
            return False
        self._left -= 1
        candidate = {**self.feed, name: smaller}
        if not self._fails(candidate):
            return False
        self.feed = candidate
        return True
