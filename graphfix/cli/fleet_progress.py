"""A fleet at work, on stderr: a table of what became of how many, a bar, and what went wrong."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from graphfix.batch.jobs import Row
from graphfix.rendering.fleet_text import COLOURS, WORDS, row_line

if TYPE_CHECKING:
    from rich.table import Table

_PER_SECOND = 4  # times that the table is drawn again


@contextmanager
def telling(
    targets: Sequence[str], total: int, *, quiet: bool
) -> Generator[Callable[[Row, int, int], None]]:
    """Give what shows each row: a live table and a bar on a terminal, else a line.

    Args:
        targets: The targets, which are the rows of the table.
        total: How many models for how many targets there are.
        quiet: Nothing is to be shown where stderr is no terminal.
    """
    from graphfix.cli.console import say, style_for

    style = style_for(sys.stderr)
    if not sys.stderr.isatty():
        silent = quiet
        yield lambda row, made, of: None if silent else say(row_line(row, made, of, style))
        return
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    progress = Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    task = progress.add_task("", total=total)
    words: dict[str, Counter[str]] = {target: Counter() for target in targets}
    console = Console(file=sys.stderr)
    with Live(Group(progress), console=console, refresh_per_second=_PER_SECOND) as live:

        def on_row(row: Row, made: int, of: int) -> None:
            words[row.target][row.word] += 1
            progress.update(task, completed=made, total=of, description=row.name)
            live.update(Group(progress, _table(words)))
            if row.exit:
                console.print(Text.from_ansi(row_line(row, made, of, style)))

        yield on_row


def _table(words: Mapping[str, Counter[str]]) -> Table:
    """Return how many models became what by now, by target."""
    from rich.table import Table

    met = {word for counted in words.values() for word in counted}
    shown = [word for word in WORDS if word in met] + sorted(met - WORDS.keys())
    table = Table(box=None, pad_edge=False)
    table.add_column("done now", no_wrap=True)
    for word in shown:
        table.add_column(word, justify="right", style=COLOURS.get(word, "red"))
    for target, counted in words.items():
        table.add_row(target, *(str(counted[word]) for word in shown))
    return table
