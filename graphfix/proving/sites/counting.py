"""How many sites are certified while children are at it, and which one: they write each down."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from graphfix.proving.sites.cases import WATCHING, read_results

_LOOK = 0.5  # seconds


class Counted:
    """Counts the sites of several children, and tells how many are done."""

    def __init__(
        self,
        total: int,
        reported: Callable[[int, int], None],
        at: Callable[[str], None] | None = None,
    ) -> None:
        """Begin with none of `total`; `at` is given the name of the site that was begun."""
        self._total = total
        self._reported = reported
        self._at = at
        self._done: dict[Path, int] = {}
        self._lock = threading.Lock()

    def look(self, folder: Path, names: Sequence[str]) -> None:
        """Count what a child has done by now; `names` are those of its sites by number."""
        done, begun = 0, ""
        for result in read_results(folder):
            done += result.certificate is not None
            open_now = result.certificate is None and result.number != WATCHING
            begun = names[result.number] if open_now else ""
        with self._lock:
            self._done[folder] = done
            if begun and self._at is not None:
                self._at(begun)
            self._reported(min(sum(self._done.values()), self._total), self._total)


@contextmanager
def watched(folder: Path, counted: Counted | None, names: Sequence[str]) -> Generator[None]:
    """Count what the child of a folder does meanwhile; does nothing where no one asks."""
    if counted is None:
        yield
        return
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(_LOOK):
            counted.look(folder, names)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    counted.look(folder, names)
