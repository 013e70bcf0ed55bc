"""How many sites are certified while children are at it: they write a line for each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from graphfix.proving.sites.cases import read_results

_LOOK = 0.5  # seconds


class Counted:
    """Counts the sites of several children, and tells how many are done."""

    def __init__(self, total: int, told: Callable[[int, int], None]) -> None:
        """Begin with none of `total`."""
        self._total = total
        self._told = told
        self._done: dict[Path, int] = {}
        self._lock = threading.Lock()

    def look(self, folder: Path) -> None:
        """Count what a child has done by now."""
        with self._lock:
            self._done[folder] = sum(r.certificate is not None for r in read_results(folder))
            self._told(min(sum(self._done.values()), self._total), self._total)


@contextmanager
def watched(folder: Path, counted: Counted | None) -> Generator[None]:
    """Count what the child of a folder does meanwhile; does nothing where nobody asks."""
    if counted is None:
        yield
        return
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(_LOOK):
            counted.look(folder)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    counted.look(folder)
