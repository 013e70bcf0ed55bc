"""`graphfix learn`: make a target of an engine that graphfix does not know, by asking it."""

from __future__ import annotations

from pathlib import Path

import click

from graphfix.cli.help_groups import GroupedCommand
from graphfix.cli.parameters import names
from graphfix.cli.shared import CONTEXT, FILE, output_options, verbose_option


@click.command(cls=GroupedCommand, context_settings=CONTEXT)
@click.argument("name")
@click.option(
    "--program",
    type=FILE,
    metavar="FILE.py",
    help="Python with `version()` and `load(path, shapes)`, which runs models in the engine.",
)
@click.option(
    "--command",
    default="",
    metavar="'TOOL {model} {inputs} {outputs}'",
    help="A command in the place of --program: the three stand for the paths of a model and of "
    "npz archives of its inputs, and of the outputs that it writes. Its exit code and stderr "
    "are its words.",
)
@click.option(
    "--engine-version",
    default="1.0",
    show_default=True,
    metavar="VERSION",
    help="The version of the engine that --command runs.",
)
@click.option(
    "--python",
    type=FILE,
    metavar="PATH",
    help="The Python that has the engine; default: the one that runs graphfix.",
)
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    default=30.0,
    show_default=True,
    help="How long to ask; a further run continues.",
)
@click.option(
    "--answer-timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit of one question; one that takes longer has no answer.",
)
@click.option("--only", callback=names, metavar="A,B", help="Ask about these operators alone.")
@click.option("--fresh", is_flag=True, help="Drop what was answered before.")
@verbose_option
@output_options
def learn(
    *,
    as_json: bool,
    verbose: bool,
    name: str,
    program: Path | None,
    command: str,
    engine_version: str,
    python: Path | None,
    minutes: float,
    answer_timeout: float,
    only: tuple[str, ...] | None,
    fresh: bool,
) -> int:
    """Ask an engine what it takes, and make the target NAME of its answers.

    It is given small models of each operator, form, element type, rank and opset,
    those first that most networks have, in a process of its own. From then on
    --target NAME works in every command; `run --verify engine` asks it about a
    network. What is learned is below $GRAPHFIX_LEARNED or in the user's folder for
    data.

    Exit codes: 0 learned; 1 learned, but the time was too short for all questions; 2
    wrong usage, or the engine computes nothing rightly; 5 a fault in graphfix; 130
    Ctrl-C.
    """
    from graphfix.cli.console import emit, emit_json, say
    from graphfix.errors import UsageError
    from graphfix.learning.learning import Learning
    from graphfix.learning.learning import learn as ask
    from graphfix.rendering.as_json import SCHEMA
    from graphfix.rendering.learned_view import learned_json, learned_text

    if program is None and not command:
        raise UsageError("is missing", where="--program", hint="or give --command")
    if program is not None and command:
        raise UsageError("excludes --program", where="--command")
    wanted = Learning(
        name,
        program,
        command,
        engine_version,
        python,
        minutes=minutes,
        seconds=answer_timeout,
        only=only or (),
        fresh=fresh,
    )
    found = ask(wanted, lambda text: say(f"graphfix: {text}"))
    if as_json:
        emit_json({"schema": SCHEMA, **learned_json(found)})
    else:
        emit(learned_text(found, whole=verbose))
    return 0 if found.finished else 1
