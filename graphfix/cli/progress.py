"""A progress bar on stderr, for people who wait; nothing at all for programs and short runs."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, TextIO

from graphfix.cli.limits import Page
from graphfix.pipeline.hooks import Hook, SilentHook
from graphfix.report import Outcome

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 1.0  # seconds before a bar is worth its flicker
_BETWEEN = 0.1  # seconds between two changes of it
_NODE_WIDTH = 40
_HEAD = 12  # letters of a long name that are kept before its end


@contextmanager
def progress_hooks(
    stream: TextIO | None = None, page: Page | None = None
) -> Generator[tuple[Hook, ...]]:
    """Give the hooks that show progress on `stream` (stderr) if it is a terminal, and on a page."""
    shown = sys.stderr if stream is None else stream
    noting: tuple[Hook, ...] = () if page is None else (PlaceHook(page),)
    if not shown.isatty():
        yield noting
        return
    hook = ProgressHook(shown)
    try:
        yield (hook, *noting)
    finally:
        hook.close()


class PlaceHook(SilentHook):
    """Notes stages and passes on the page that the watching process reads."""

    def __init__(self, page: Page) -> None:
        """Write to that page."""
        self._page = page
        self._stage = ""

    def stage(self, name: str) -> None:
        """Note the stage; what is being saved has its time: from then on a result may be there."""
        if name == "save":
            self._page.limit(float("inf"), 0.0)
        self._stage = name
        self._page.place = f"at stage {name}"

    def pass_done(self, outcome: Outcome) -> None:
        """Note the pass that is done, which is before the one at work."""
        self._page.place = f"at stage {self._stage}, after {outcome.pass_id}"


class ProgressHook(SilentHook):
    """Shows stage, node, count and the time left, once a run has taken `patience` seconds."""

    def __init__(self, stream: TextIO, patience: float = PATIENCE) -> None:
        """Start the clock; rich is imported when the first bar is drawn."""
        self._stream = stream
        self._start = perf_counter() + patience
        self._stage = ""
        self._node = ""
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def stage(self, name: str) -> None:
        """Show the new stage with an empty bar, from which the time left is reckoned again."""
        again, self._stage, self._node = name == self._stage, name, ""
        if self._bar is not None and self._task is not None and not again:
            # A total cannot be removed: rich reads None as no change.
            self._bar.remove_task(self._task)
            self._task = self._bar.add_task(name, total=None)
        self._show(0, 0)

    def at_node(self, node: str) -> None:
        """Name the node after the stage with the next move of the bar."""
        self._node = (
            node
            if len(node) <= _NODE_WIDTH
            else f"{node[:_HEAD]}...{node[_HEAD + 3 - _NODE_WIDTH :]}"
        )

    def progress(self, done: int, total: int) -> None:
        """Move the bar."""
        self._show(done, total)

    def pass_done(self, outcome: Outcome) -> None:
        """Name the pass after the stage."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=f"{self._stage}: {outcome.pass_id}")

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _show(self, done: int, total: int) -> None:
        if perf_counter() < self._start and not (self._bar is not None and 0 < total == done):
            return
        self._start = perf_counter() + (_BETWEEN if done else 0.0)
        if self._bar is None:
            self._bar = self._made()
            self._task = self._bar.add_task(self._stage, total=None)
            self._bar.start()
        if self._task is not None:
            text = f"{self._stage}: {self._node}" if self._node else self._stage
            self._bar.update(self._task, description=text, completed=done, total=total or None)

    def _made(self) -> Progress:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            Task,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.text import Text

        class Count(MofNCompleteColumn):
            def render(self, task: Task) -> Text:
                return super().render(task) if task.total else Text()

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            Count(),
            TimeRemainingColumn(),
        )
        console = Console(file=self._stream, stderr=True)
        return Progress(*columns, console=console, transient=True)
