"""`graphfix inspect`: what is in a model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphfix.cli.shared import CONTEXT, model_argument, output_options

if TYPE_CHECKING:
    from graphfix.model import Model


@click.command(context_settings=CONTEXT, short_help="Show what is in a model, weights unread.")
@model_argument
@click.option("--reach", is_flag=True, help="Try how low the opset can go, and what stops it.")
@click.option(
    "--nodes",
    multiple=True,
    metavar="NODE",
    help="Show nodes: a name, '*/attn/*', op:Mod, index:12; repeat for more.",
)
@click.option(
    "--around", multiple=True, metavar="NODE", help="Show nodes with what they read and feed."
)
@click.option("--op-table", is_flag=True, help="Show nodes and work of each operator.")
@click.option("--macs", is_flag=True, help="Show the multiply-accumulates of each node.")
@click.option(
    "--constants-baked",
    is_flag=True,
    help="Show what no input reaches, and sizes that tracing may have frozen.",
)
@click.option("--where-from", is_flag=True, help="Show which repair made which node, of which.")
@output_options
def inspect(*, as_json: bool, model: Path, reach: bool, **looks: Any) -> int:
    """Show opsets, inputs and outputs, operators, biggest weights, functions, data files.

    MODEL may be - for standard input.

    Weights are not read, so this is quick on files of any size; --reach converts the
    model in memory and may read some. The other options show a closer look in place of
    all that.

    Exit codes: 0 shown; 2 wrong usage; 3 MODEL cannot be read or is not a model; 5 a
    fault in graphfix; 130 Ctrl-C.
    """
    from graphfix.cli.console import emit, emit_json, stdout_kept, style_for
    from graphfix.cli.streams import source
    from graphfix.pipeline.inspection import inspect_model

    given = source(model)
    reached = None
    if any(looks.values()):
        return _look(given, as_json=as_json, **looks)
    with stdout_kept():
        found = inspect_model(given)
        if reach:
            from graphfix.pipeline.reach import reach_of

            reached = reach_of(given)
    if as_json:
        from graphfix.rendering.inspect_json import inspect_json

        emit_json(inspect_json(found, reached))
        return 0
    from graphfix.rendering.text_inspect import inspect_text

    emit(inspect_text(found, reached, style=style_for(sys.stdout)))
    return 0


def _look(given: Path | Model, *, as_json: bool, **looks: Any) -> int:
    """Show the closer looks that were asked for."""
    from graphfix.cli.console import emit, emit_json, stdout_kept, style_for
    from graphfix.pipeline.closer_look import Looks, look_at
    from graphfix.rendering.closer_look_views import looking_json, looking_text

    with stdout_kept():
        tables = look_at(given, Looks(**looks))
    if as_json:
        emit_json(looking_json(tables))
    else:
        emit(looking_text(tables, style=style_for(sys.stdout)))
    return 0
