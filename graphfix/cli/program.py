"""The `graphfix` command itself: the table of commands, `--version` and `--debug`."""

from __future__ import annotations

import os

import click

from graphfix.cli.lazy import LazyCommand, LazyGroup

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
    "explain": "Explain the log of an engine or a converter.",
    "serve": "Repair models in the browser.",
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
