"""`graphfix targets`: the list of targets, or what one accepts."""

from __future__ import annotations

import sys

import click

from graphfix.cli.shared import CONTEXT, output_options


@click.command(context_settings=CONTEXT, short_help="List the targets, or show what one accepts.")
@click.argument("name", required=False)
@output_options
def targets(*, as_json: bool, name: str | None) -> int:
    """List the targets with their aliases; with NAME show what that one accepts.

    NAME is a target, an alias, jetpack5.1, ngc22.12, or a profile of your own
    (a .toml file).
    """
    from graphfix.cli.console import emit, emit_json, style_for
    from graphfix.engines.targets import load_target, releases_of, resolve, target_names
    from graphfix.rendering.as_json import SCHEMA
    from graphfix.rendering.targets_view import (
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
            emit(target_text(target, held, notes, style=style))
        return 0
    every = [load_target(known) for known in target_names()]
    if as_json:
        emit_json({"schema": SCHEMA, "targets": targets_json(every)})
    else:
        emit(targets_text(every, style=style))
    return 0
