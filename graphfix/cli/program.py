"""The `graphfix` command: its table of commands, each imported when it is called, and how it ends.

Every way in which it can end becomes an exit code and one line.
"""

from __future__ import annotations

import gc
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import click

if TYPE_CHECKING:
    from graphfix.cli.limits import Page


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


# What the context of a command carries where the process was started for it alone.
OWN_PROCESS = "own process"
# Each command, in the module of its name, and its line in the list.
LINES = {
    "run": "Repair a model for a target, verify it, write it.",
    "batch": "Repair many models for several targets.",
    "check": "List what a target rejects or computes wrongly.",
    "edit": "Change a model by hand, and prove it.",
    "compare": "Compare what two models compute.",
    "diff": "Compare how two models are written, names aside.",
    "bisect": "Find the node or the repair that breaks outputs.",
    "reduce": "Shrink a model while a command still fails on it.",
    "replay": "Show the fault of a reproducer folder again.",
    "passes": "List the repairs, or explain one of them.",
    "targets": "List the targets, or show what one accepts.",
    "learn": "Make a target of an engine by asking it.",
    "explain": "Explain the log of an engine or a converter.",
    "serve": "Repair models in the browser.",
    "mcp": "Give the commands as tools to assistants, by the Model Context Protocol.",
    "view": "Show a model as a page in the browser.",
    "inspect": "Show what is in a model, weights unread.",
}
COMMANDS = {
    name: LazyCommand(f"graphfix.cli.{name}_command:{name}", text) for name, text in LINES.items()
}


def _print_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    """Print the version and end."""
    if wanted and not ctx.resilient_parsing:
        from graphfix.ir.version import __version__

        click.echo(f"graphfix {__version__}")
        ctx.exit()


# A backspace alone on a line keeps click from filling the paragraph.
_HELP = """Repair exported ONNX files for a deployment target, with proof.

\b
  graphfix check model.onnx --target {name}    what blocks it
  graphfix run model.onnx --target {name}      repair, verify, write

Exit codes: 0 done and verified; 1 written, but findings are left or equality
could not be shown; 2 wrong usage; 3 the input is not a readable model, or more
than --max-memory or --timeout allow; 4 the result differs, nothing written; 5 a
fault in graphfix; 130 Ctrl-C.
"""


class _Program(LazyGroup):
    """The group of all commands; its help shows the target that an engine gives as an example."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description, with the name of a target in it."""
        self.help = _HELP.replace("{name}", example_target())
        super().format_help_text(ctx, formatter)


def example_target() -> str:
    """Return what `graphfix.engines.engine.Engine.example` is, without importing any engine."""
    with os.scandir(os.path.join(os.path.dirname(__file__), os.pardir, "engines")) as folders:
        families = (entry for entry in folders if entry.is_dir())
        for folder in sorted(families, key=lambda entry: entry.name):
            path = os.path.join(folder.path, "example.txt")
            if os.path.isfile(path):
                with open(path, encoding="utf-8") as file:  # ASCII's codec is slow to import
                    return file.read().strip()
    return "NAME"


program = _Program(
    COMMANDS,
    name="graphfix",
    help=_HELP,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_print_version,
            help="Show the version and exit.",
        ),
        click.Option(
            ["--debug"],
            is_flag=True,
            expose_value=False,
            help="Show tracebacks and what libraries print; also GRAPHFIX_DEBUG=1.",
        ),
    ],
)


INTERRUPTED = 130
INTERPRETING = frozenset(COMMANDS) - {"batch", "learn", "mcp", "passes", "serve", "targets"}
_OBJECTS = 400_000  # between two collections


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; see the table in `graphfix --help`.

    Args:
        arguments: The words after `graphfix`, worked on in this process; None for those that the
            process was started with, of which a child is made, with limits.
    """
    if arguments is not None:
        return _main(list(arguments), None, own=False)
    words = sys.argv[1:]
    if not hasattr(os, "fork") or not interprets(words):
        code = _main(words, None, own=True)
        gc.freeze()  # the process ends: what is left need not be searched for cycles
        return code
    from graphfix.cli.supervising import supervised

    return supervised(lambda page: _main(words, page, own=True))


def interprets(words: Sequence[str]) -> bool:
    """Say whether a command line interprets a model, and is not a question for help."""
    first = next((word for word in words if not word.startswith("-")), "")
    return first in INTERPRETING and not {"-h", "--help", "--version"} & set(words)


def _main(words: list[str], page: Page | None, *, own: bool) -> int:
    if page is not None:
        page.as_json = _has_flag(words, "--json")
    try:
        owner = page or (OWN_PROCESS if own else None)
        if own:
            # Most of a short run is imports, which make much and leave no garbage.
            gc.set_threshold(_OBJECTS)
            if not (_wants_debug(words) or sys.warnoptions):
                # What numpy, onnx and protobuf warn of while they look at a model says nothing
                # to who gave it.
                warnings.simplefilter("ignore")
        if page is not None and not _wants_debug(words):
            from graphfix.cli.console import drop_native_stderr

            drop_native_stderr()
        code = program.main(args=words, prog_name="graphfix", standalone_mode=False, obj=owner)
        sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt):
        sys.stderr.write("graphfix: interrupted\n")
        return INTERRUPTED
    except BrokenPipeError:
        _silence_stdout()
        return 1
    except Exception as error:
        from graphfix.cli.failures import report_failure

        return report_failure(
            error,
            words,
            as_json=_has_flag(words, "--json"),
            debug=_wants_debug(words),
            lasting=page.lasting_folder if page is not None else None,
        )
    return code if isinstance(code, int) else 0


def _has_flag(words: Sequence[str], flag: str) -> bool:
    """Say whether a flag is on the line, even where the line could not be parsed."""
    end = words.index("--") if "--" in words else len(words)
    return flag in words[:end]


def _wants_debug(words: Sequence[str]) -> bool:
    """Say whether tracebacks are wanted, by option or environment."""
    return _has_flag(words, "--debug") or os.environ.get("GRAPHFIX_DEBUG", "") not in ("", "0")


def _silence_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush is quiet too."""
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - lives until the end
