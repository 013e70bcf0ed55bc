"""`graphfix inspect`: what is in a model."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from graphfix.cli.shared import CONTEXT, model_argument, output_options


@click.command(context_settings=CONTEXT, short_help="Show what is in a model, weights unread.")
@model_argument
@click.option("--reach", is_flag=True, help="Try how low the opset can go, and what stops it.")
@output_options
def inspect(*, as_json: bool, model: Path, reach: bool) -> int:
    """Show opsets, inputs and outputs, operators, biggest weights, functions, data files.

    MODEL may be - for standard input.

    Weights are not read, so this is quick on files of any size; --reach converts the
    model in memory and may read some.

    Exit codes: 0 shown; 2 wrong usage; 3 MODEL cannot be read or is not a model; 5 a
    fault in graphfix; 130 Ctrl-C.
    """
    from graphfix.cli.console import emit, emit_json, stdout_kept, style_for
    from graphfix.cli.streams import source
    from graphfix.pipeline.inspection import inspect_model

    given = source(model)
    reached = None
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
