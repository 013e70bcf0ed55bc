"""How far sizes may grow before a run takes too much time or memory."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence

# Sizes that are tried below larger ones, to see how a run grows.
_RUNGS = tuple(8**power for power in range(2, 9))
# Below these a run says nothing of how it grows.
_SECONDS, _KIB = 2e-3, 4 << 10
_STEEPEST = 3.0


class Ladder:
    """Climbs sizes in ascending order for as long as the next one is likely to fit.

    CPU is counted, not time: what a proof looks at does not depend on what else a machine does.
    """

    def __init__(self, seconds: float, memory: int) -> None:
        """Spend no more CPU seconds on all sizes together, and no more bytes on one."""
        self._seconds = seconds
        self._kib = memory >> 10
        self._spent = 0.0
        self._last: tuple[int, float, float] | None = None
        self._growth = 0.0, 0.0
        self._ran: float | None = None
        self._ratio = 1.0

    def climb(self, sizes: Sequence[int]) -> Iterator[tuple[int, bool]]:
        """Yield sizes, and whether each is a rung: one that only shows how a run grows.

        What is done between two sizes is what the first of them costs.

        Args:
            sizes: What is to be tried, in ascending order.
        """
        last = sizes[-1] if sizes else 0
        wanted = set(sizes)
        for size in sorted(wanted.union(rung for rung in _RUNGS if 2 * rung < last)):
            is_rung = size not in wanted
            if not self._affords(size, 1.0 if is_rung else self._ratio):
                return
            began, held = time.process_time(), _peak()
            self._ran = None
            yield size, is_rung
            seconds = time.process_time() - began
            alone = seconds if self._ran is None else self._ran - began
            if not is_rung:
                self._ratio = max(self._ratio, seconds / max(alone, _SECONDS))
            self._spent += seconds
            self._note(size, alone, _peak() - held)

    def ran(self) -> None:
        """Note that the run at a size is done: what comes now is asked of no rung."""
        self._ran = time.process_time()

    def _affords(self, size: int, ratio: float) -> bool:
        if self._last is None:
            return True
        before, seconds, kib = self._last
        times, held = (math.pow(size / before, power) for power in self._growth)
        likely = seconds * times * ratio
        return self._spent + likely < self._seconds and kib * held < self._kib

    def _note(self, size: int, seconds: float, kib: int) -> None:
        now = size, max(seconds, _SECONDS), max(float(kib), float(_KIB))
        if self._last is not None and size >= 2 * self._last[0]:
            steps = math.log(size / self._last[0])
            _, seconds_before, kib_before = self._last
            self._growth = (
                _power(now[1] / seconds_before, steps),
                _power(now[2] / kib_before, steps),
            )
            self._last = now
        elif self._last is None:
            self._last = now


def _power(growth: float, steps: float) -> float:
    """Return the power of the size by which something grew."""
    return min(max(math.log(growth) / steps, 0.0), _STEEPEST)


def _peak() -> int:
    """Return the most KiB that this process has held; 0 where no one can tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
