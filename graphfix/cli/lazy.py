"""A click group whose commands are imported when they are called, never to print the list."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

import click


class LazyCommand(NamedTuple):
    """Where a command lives (``module:function``) and its line in the list."""

    target: str
    summary: str


class LazyGroup(click.Group):
    """A group that knows its commands by address only.

    The list of `graphfix --help` comes from the summaries held here, so it costs no import.
    """

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
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, e.summary) for name, e in self.lazy_commands.items()])
