"""`graphfix explain`: what a log of an engine says, and what cures it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from graphfix.cli import completion
from graphfix.cli.help_groups import GroupedCommand
from graphfix.cli.limits import take_model
from graphfix.cli.parameters import STANDARD, ModelPath
from graphfix.cli.shared import CONTEXT, FILE, limit_options, output_options

_MOST = 16 << 20
_UTF16 = (b"\xff\xfe", b"\xfe\xff")  # the marks at the start of a file
_MODEL = b"\x08"  # the field with which an ONNX file begins: ir_version


@click.command(cls=GroupedCommand, context_settings=CONTEXT)
@limit_options
@click.argument("log", type=FILE)
@click.argument("model", type=ModelPath(), required=False, callback=take_model)
@click.option(
    "--target",
    metavar="NAME",
    default="",
    shell_complete=completion.targets,
    help="Whose log it is, where that is known.",
)
@output_options
def explain(*, as_json: bool, log: Path, model: Path | None, target: str) -> int:
    """Name rule, node, cause and cure of each message that is known in LOG (- is stdin).

    Logs of engines are known, of the tools around them and of exporters. With MODEL the
    nodes are found in it.

    Exit codes: 0 a message is known; 1 none is, the nearest are reported; 2 wrong usage; 3
    MODEL cannot be read or is not a model; 5 a fault in graphfix; 130 Ctrl-C.
    """
    from graphfix.cli.console import emit, emit_json, stdout_kept, style_for
    from graphfix.worker.limits import single_threaded

    with single_threaded():
        from graphfix.explanation.answers import explain_log
    if log == STANDARD and model == STANDARD:
        raise click.UsageError("LOG and MODEL cannot both come from standard input")
    text = _text(log)
    with stdout_kept():
        if model is None:
            found = explain_log(text, target=target)
        else:
            from graphfix.cli.parameters import shown, source

            found = explain_log(text, source(model), target=target, name=shown(model))
    if as_json:
        from graphfix.rendering.explain_views import explain_json

        emit_json(explain_json(found))
    else:
        from graphfix.rendering.explain_views import explain_text

        emit(explain_text(found, style=style_for(sys.stdout)))
    return 0 if found.answers else 1


def _text(path: Path) -> str:
    """Return a log; of a long one the end.

    Raises:
        UsageError: It cannot be read, or nothing is in it.
    """
    from graphfix.errors import UsageError

    try:
        if path == STANDARD:
            raw = sys.stdin.buffer.read(_MOST)
        else:
            with path.open("rb") as file:
                file.seek(max(0, path.stat().st_size - _MOST))
                raw = file.read(_MOST)
    except OSError as error:
        raise UsageError(f"the log cannot be read: {error.strerror}", where=str(path)) from error
    if raw.startswith(_UTF16):  # as PowerShell writes what it redirects
        text = raw.decode("utf-16", errors="replace")
    elif raw.startswith(_MODEL):
        advice = "for a model run `graphfix check MODEL --target NAME`"
        raise UsageError(f"this is a model, not a log; {advice}", where=str(path))
    else:
        text = raw.decode("utf-8", errors="replace")
    if not text.strip():
        raise UsageError("nothing is in the log", where=str(path))
    return text
