"""`graphfix passes`: the list of repairs, or the page of one."""

from __future__ import annotations

import sys

import click

from graphfix.cli import completion
from graphfix.cli.shared import CONTEXT, output_options


@click.command(context_settings=CONTEXT, short_help="List the repairs, or explain one of them.")
@click.argument("name", required=False, shell_complete=completion.passes)
@output_options
def passes(*, as_json: bool, name: str | None) -> int:
    """List the passes by family; with NAME show what that one does and its options."""
    from graphfix.cli.console import emit, emit_json, style_for
    from graphfix.registry import all_passes, get_pass
    from graphfix.rendering.as_json import SCHEMA
    from graphfix.rendering.passes_view import pass_json, pass_text, passes_text

    style = style_for(sys.stdout)
    if name is not None:
        known = get_pass(name)
        if as_json:
            emit_json({"schema": SCHEMA, **pass_json(known)})
        else:
            emit(pass_text(known, style=style))
        return 0
    every = all_passes()
    if as_json:
        emit_json({"schema": SCHEMA, "passes": [pass_json(known) for known in every]})
    else:
        emit(passes_text(every, style=style))
    return 0
