"""`graphfix inspect`: what is in a model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphfix.cli import completion
from graphfix.cli.help_groups import GroupedCommand
from graphfix.cli.many_models import Reported, code_of, for_each, many_json, models_argument
from graphfix.cli.shared import CONTEXT, output_options, verbose_option

if TYPE_CHECKING:
    from graphfix.ir.model import Model


@click.command(cls=GroupedCommand, context_settings=CONTEXT)
@models_argument
@click.option("--reach", is_flag=True, help="Try how low the opset can go, and what stops it.")
@click.option(
    "--nodes",
    multiple=True,
    metavar="NODE",
    shell_complete=completion.nodes,
    help="Show nodes: a name, '*/attn/*', op:Mod, index:12; repeat for more.",
)
@click.option(
    "--around",
    multiple=True,
    metavar="NODE",
    shell_complete=completion.nodes,
    help="Show nodes with what they read and feed.",
)
@click.option("--op-table", is_flag=True, help="Show nodes and work of each operator.")
@click.option("--macs", is_flag=True, help="Show the multiply-accumulates of each node.")
@click.option(
    "--constants-baked",
    is_flag=True,
    help="Show what no input reaches, and sizes that tracing may have frozen.",
)
@click.option("--where-from", is_flag=True, help="Show which repair made which node, of which.")
@verbose_option
@output_options
def inspect(
    *,
    as_json: bool,
    models: Path | tuple[Path, ...],
    reach: bool,
    verbose: bool,
    **looks: Any,
) -> int:
    """Show opsets, inputs and outputs, operators, biggest weights, functions, data files.

    MODEL may be - for standard input. Several files, folders and patterns such
    as 'nets/**/*.onnx' are shown one after the other, each in a process of its
    own; --json prints one object then.

    Weights are not read, so this is quick on files of any size; --reach converts the
    model in memory and may read some. The other options show a closer look in place of
    all that.

    Exit codes: 0 shown; 1 one of several files cannot be read; 2 wrong usage; 3
    MODEL cannot be read or is not a model; 5 a fault in graphfix; 130 Ctrl-C.
    """
    from graphfix.cli.console import emit, emit_json, style_for
    from graphfix.rendering.style import printable

    if isinstance(models, Path):
        answer, text = _inspected(models, reach, looks, as_json=as_json, verbose=verbose)
        if as_json:
            emit_json(answer)
        else:
            emit(text)
        return 0

    def one(path: Path) -> Reported:
        answer, text = _inspected(path, reach, looks, as_json=as_json, verbose=verbose)
        if not as_json:
            title = style_for(sys.stdout).paint(printable(str(path)), "bold")
            emit(f"{title}\n\n{text.rstrip()}\n")
        return Reported(0, answer)

    every = for_each(models, one)
    if as_json:
        emit_json(many_json(models, every))
    return code_of(every)


def _inspected(
    path: Path, reach: bool, looks: dict[str, Any], *, as_json: bool, verbose: bool
) -> tuple[Any, str]:
    """Return what is shown of one model: as JSON, or as text."""
    from graphfix.cli.console import stdout_kept, style_for
    from graphfix.cli.parameters import source
    from graphfix.inspection.inspection import inspect_model

    given = source(path)
    if any(looks.values()):
        return _looked(given, as_json=as_json, **looks)
    reached = None
    with stdout_kept():
        found = inspect_model(given)
        if reach:
            from graphfix.pipeline.reach import reach_of

            reached = reach_of(given)
    if as_json:
        from graphfix.rendering.inspect_json import inspect_json

        return inspect_json(found, reached), ""
    from graphfix.rendering.text_inspect import inspect_text, short_inspect

    view = inspect_text if verbose else short_inspect
    return {}, view(found, reached, style=style_for(sys.stdout))


def _looked(given: Path | Model, *, as_json: bool, **looks: Any) -> tuple[Any, str]:
    """Return the closer looks that were asked for."""
    from graphfix.cli.console import stdout_kept, style_for
    from graphfix.inspection.closer_look import Looks, look_at
    from graphfix.rendering.closer_look_views import looking_json, looking_text

    with stdout_kept():
        tables = look_at(given, Looks(**looks))
    if as_json:
        return looking_json(tables), ""
    return {}, looking_text(tables, style=style_for(sys.stdout))
