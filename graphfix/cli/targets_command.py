"""`graphfix targets`: the list of targets, or what one accepts."""

from __future__ import annotations

import sys

import click

from graphfix.cli import completion
from graphfix.cli.help_groups import GroupedCommand
from graphfix.cli.shared import CONTEXT, output_options, verbose_option


@click.command(cls=GroupedCommand, context_settings=CONTEXT)
@click.argument("name", required=False, shell_complete=completion.targets)
@click.option(
    "--install",
    "wanted",
    metavar="NAME",
    help="Install the engine of a target, for --verify engine.",
)
@click.option(
    "--learned",
    is_flag=True,
    help="Show what the engine of NAME said no to when --verify engine asked it.",
)
@click.option(
    "--export-learned",
    "export",
    is_flag=True,
    help="Print that as rules that can be contributed: rows of a rules.toml.",
)
@verbose_option
@output_options
def targets(
    *,
    as_json: bool,
    name: str | None,
    wanted: str | None,
    learned: bool,
    export: bool,
    verbose: bool,
) -> int:
    """List the targets by family; with NAME show what that one accepts.

    NAME is a target, an alias, jetpack5.1, ngc22.12, or a profile of your own
    (a .toml file).

    Engines are installed with pip, each into an environment of its own below
    $GRAPHFIX_ENGINES or the user's folder for data.

    Exit codes: 0 done; 1 the engine cannot be installed; 2 wrong usage; 5 a
    fault in graphfix; 130 Ctrl-C.
    """
    if wanted is not None:
        return _install(wanted, name, as_json=as_json)
    if export:
        return _export_learned(name, as_json=as_json)
    if learned:
        return _show_learned(name, as_json=as_json)
    from graphfix.cli.console import emit, emit_json, style_for
    from graphfix.engines.targets import load_target, releases_of, resolve, target_names
    from graphfix.rendering.as_json import SCHEMA
    from graphfix.rendering.targets_view import (
        families_text,
        target_json,
        target_text,
        targets_json,
        targets_text,
    )

    style = style_for(sys.stdout)
    if name is not None:
        target, notes = resolve(name)
        held = releases_of(target)
        if as_json:
            emit_json({"schema": SCHEMA, **target_json(target, held, notes)})
        else:
            emit(target_text(target, held, notes, whole=verbose, style=style))
        return 0
    every = [load_target(known) for known in target_names()]
    if as_json:
        emit_json({"schema": SCHEMA, "targets": targets_json(every)})
    else:
        emit((targets_text if verbose else families_text)(every, style=style))
    return 0


def _show_learned(name: str | None, *, as_json: bool) -> int:
    from graphfix.cli.console import emit, emit_json
    from graphfix.engines.kept_answers import kept_answers, place_of
    from graphfix.engines.targets import load_target
    from graphfix.errors import UsageError
    from graphfix.rendering.answers_view import answers_json, answers_text
    from graphfix.rendering.as_json import SCHEMA

    if name is None:
        raise UsageError("needs the name of a target", where="--learned")
    target = load_target(name)
    said = kept_answers(target)
    if as_json:
        emit_json({"schema": SCHEMA, **answers_json(target, said)})
    else:
        emit(answers_text(target, said, place_of(target)))
    return 0


def _export_learned(name: str | None, *, as_json: bool) -> int:
    from graphfix.cli.console import emit, emit_json
    from graphfix.engines.answer_rows import exported, rows_text
    from graphfix.engines.kept_answers import kept_answers
    from graphfix.engines.targets import load_target
    from graphfix.errors import UsageError
    from graphfix.rendering.as_json import SCHEMA

    if name is None:
        raise UsageError("needs the name of a target", where="--export-learned")
    target = load_target(name)
    found = exported(target, kept_answers(target).answers)
    if as_json:
        left = [{"form": form, "reason": reason} for form, reason in found.left]
        emit_json({"schema": SCHEMA, "name": target.name, "rows": found.rows, "left": left})
    else:
        emit(rows_text(target, found))
    return 0


def _install(wanted: str, name: str | None, *, as_json: bool) -> int:
    from graphfix.cli.console import emit, emit_json, say
    from graphfix.engines.engine import engine_of
    from graphfix.engines.installing import install
    from graphfix.engines.targets import resolve
    from graphfix.errors import UsageError
    from graphfix.rendering.as_json import SCHEMA

    if name is not None:
        raise UsageError(f"{name!r} is one name too many", where="--install")
    target, notes = resolve(wanted)
    for note in notes:
        say(f"graphfix: note: {note}")
    found = install(engine_of(target.family), target, lambda text: say(f"graphfix: {text}"))
    if as_json:
        said = {"name": target.name, "python": str(found.python), "version": found.version}
        emit_json({"schema": SCHEMA, **said, "made": found.made})
    else:
        been = "is installed" if found.made else "was installed already"
        emit(f"{target.title} {been}: version {found.version}, in {found.python}")
    return 0
