"""`graphfix passes`: the list of repairs, or the page of one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from graphfix.cli import completion
from graphfix.cli.help_groups import GroupedCommand
from graphfix.cli.shared import CONTEXT, output_options, verbose_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphfix.authoring.declaring import Pass


@click.command(cls=GroupedCommand, context_settings=CONTEXT)
@click.argument("name", required=False, shell_complete=completion.passes)
@click.option("--family", metavar="NAME", help="List the passes of this family.")
@click.option(
    "--grep",
    metavar="TEXT",
    help="List those whose name, summary, operators or features have it as a word; if none has, "
    "as a part of one.",
)
@verbose_option
@output_options
def passes(
    *, as_json: bool, name: str | None, family: str | None, grep: str | None, verbose: bool
) -> int:
    """Show how many passes each family has; with NAME what that one does and its options."""
    from graphfix.authoring.registry import all_passes, get_pass
    from graphfix.cli.console import emit, emit_json, style_for
    from graphfix.errors import UsageError
    from graphfix.rendering.as_json import SCHEMA
    from graphfix.rendering.passes_view import (
        by_family,
        families_text,
        matching,
        pass_json,
        pass_text,
        passes_text,
    )

    style = style_for(sys.stdout)
    if name is not None:
        if family is not None or grep is not None:
            raise click.UsageError("NAME and --family or --grep exclude each other")
        known = get_pass(name, where="graphfix passes")
        if as_json:
            emit_json({"schema": SCHEMA, **pass_json(known)})
        else:
            emit(pass_text(known, style=style))
        return 0
    every: Sequence[Pass] = all_passes()
    if family is not None:
        families = by_family(every)
        if family not in families:
            hint = f"known: {', '.join(families)}"
            raise UsageError(f"there is no family {family!r}", where="--family", hint=hint)
        every = families[family]
    every = every if grep is None else matching(every, grep)
    if as_json:
        emit_json({"schema": SCHEMA, "passes": [pass_json(known) for known in every]})
    elif verbose or family is not None or grep is not None:
        emit(passes_text(every, style=style))
    else:
        emit(families_text(every, style=style))
    return 0
