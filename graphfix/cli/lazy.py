"""A click group whose commands are imported when they are called, never to print the list."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import NamedTuple

import click

_COLUMNS = 80  # where nothing tells
_NARROWEST = 50  # as click has it


class LazyCommand(NamedTuple):
    """Where a command lives (``module:function``) and its line in the list."""

    target: str
    summary: str


class _Context(click.Context):
    """A context that asks how wide the terminal is without `shutil`, which is slow to import."""

    def make_formatter(self) -> click.HelpFormatter:
        """Return a formatter as wide as click would make it."""
        if self.terminal_width is None:
            wide = min(terminal_columns(), self.max_content_width or _COLUMNS)
            return click.HelpFormatter(width=max(wide - 2, _NARROWEST))
        return super().make_formatter()


def terminal_columns() -> int:
    """Return how many columns the terminal has, as `shutil.get_terminal_size` does."""
    try:
        columns = int(os.environ.get("COLUMNS", ""))
    except ValueError:
        columns = 0
    if columns > 0:
        return columns
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or _COLUMNS  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):  # closed, none, or no terminal
        return _COLUMNS


class LazyGroup(click.Group):
    """A group that knows its commands by address only.

    The list of `graphfix --help` comes from the summaries held here, so it costs no import.
    """

    context_class = _Context
    lazy_commands: dict[str, LazyCommand]

    def __init__(self, lazy_commands: dict[str, LazyCommand], **rest: object) -> None:
        """Take the table of commands, in the order in which help shows them."""
        super().__init__(**rest)  # type: ignore[arg-type]
        self.lazy_commands = lazy_commands

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(self.lazy_commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command; None when there is none of that name."""
        entry = self.lazy_commands.get(cmd_name)
        if entry is None:
            return None
        module, _, function = entry.target.partition(":")
        command: click.Command = getattr(import_module(module), function)
        command.short_help = entry.summary
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, e.summary) for name, e in self.lazy_commands.items()])
