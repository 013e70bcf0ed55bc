"""Engines of one comparison that take turns: at any time one of them is loaded.

Big models are loaded again for each run. That is cheap, since their weights are mapped from a file
(`graphfix.proving.runners.ort_engine`), and it keeps the memory for one model instead of five: the
original, the result, the original with rounding errors and optimised, the result changed by 5%.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from graphfix.errors import EngineFailed
from graphfix.proving.values.kinds import Feed, Value

if TYPE_CHECKING:
    from graphfix.proving.runners.engine import Engine


class Turns:
    """Keeps the engine that ran last.

    Attributes:
        changes: How many bytes of weights a changed copy of a model may hold.
    """

    def __init__(self, changes: int) -> None:
        """Load nothing yet."""
        self.changes = changes
        self._turn: Callable[[], Engine] | None = None
        self._loaded: Engine | None = None

    def open(self, opener: Callable[[], Engine]) -> Engine:
        """Return an engine that is loaded when it runs; it is loaded once now, to see it load.

        Raises:
            EngineFailed: `opener` does.
        """
        return _Taking(self.take(opener).name, opener, self)

    def take(self, opener: Callable[[], Engine]) -> Engine:
        """Return the engine of an opener, loaded; what another one loaded is given up first."""
        if self._turn is not opener or self._loaded is None:
            self._turn = self._loaded = None
            self._loaded = opener()
            self._turn = opener
        return self._loaded


class _Taking:
    """An engine that waits for its turn."""

    def __init__(self, name: str, opener: Callable[[], Engine], turns: Turns) -> None:
        self.name = name
        self._opener = opener
        self._turns = turns

    def run(self, feed: Feed) -> dict[str, Value]:
        try:
            return self._turns.take(self._opener).run(feed)
        except EngineFailed as error:
            # Whoever keeps the error would keep the frames in which it was raised, and with them
            # the engine and its weights, while another one is loaded.
            error.__context__ = None
            raise error.with_traceback(None) from None
