"""`graphfix reduce`: shrink a model while a command still fails on it."""

from __future__ import annotations

import sys
from typing import Any

import click

from graphfix.cli.help_groups import GroupedCommand, RenamedOption
from graphfix.cli.limits import take_model_untimed
from graphfix.cli.parameters import ModelPath
from graphfix.cli.shared import CONTEXT, FILE, memory_option, output_options


@click.command(cls=GroupedCommand, context_settings=CONTEXT)
@memory_option
@click.argument("model", type=ModelPath(), callback=take_model_untimed)
@click.option(
    "--fails",
    required=True,
    metavar='"COMMAND {}"',
    help="What fails; {} stands for the path of the model. Split into words as a shell "
    "does it, but run without one.",
)
@click.option(
    "-o", "--output", type=FILE, metavar="OUT", help="Where to write; default: MODEL.reduced.onnx."
)
@click.option(
    "--match", default="", metavar="TEXT", help="The output of COMMAND must hold this text, too."
)
@click.option(
    "--run-timeout",
    "--timeout",
    "timeout",
    cls=RenamedOption,
    type=click.FloatRange(min=0, min_open=True),
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit of one run of COMMAND; exceeding it is a failure of its own kind.",
)
@click.option(
    "--max-runs",
    type=click.IntRange(min=1),
    default=500,
    show_default=True,
    metavar="N",
    help="Stop after so many runs with the smallest model so far.",
)
@click.option(
    "--allow-invalid", is_flag=True, help="Try models that the ONNX checker complains of, too."
)
@click.option("--force", is_flag=True, help="Overwrite OUT even if graphfix did not write it.")
@output_options
def reduce(*, as_json: bool, **asked: Any) -> int:
    """Shrink MODEL while COMMAND still fails on it: nodes, then sizes, then weights.

    A failure is an exit code other than 0, a signal, or taking too long; on a smaller
    model the command must end in the same way. The result is written when the search
    is over. For pipes and && write "sh -c '... {} ...'".

    Exit codes: 0 written; 2 wrong usage, or there is no such command; 3 MODEL cannot
    be read, or the command does not fail on it; 5 a fault in graphfix; 130 Ctrl-C.
    """
    from graphfix.cli.console import emit, emit_json, stdout_kept, style_for
    from graphfix.cli.progress import progress_hooks
    from graphfix.reduction.files import ReduceRequest, reduce_file

    request = ReduceRequest(**asked)
    with progress_hooks() as hooks, stdout_kept():
        found = reduce_file(request, hooks)
    if as_json:
        from graphfix.rendering.reduce_views import reduce_json

        emit_json(reduce_json(str(request.model), str(request.path), found))
        return 0
    from graphfix.rendering.reduce_views import reduce_text

    emit(reduce_text(str(request.model), str(request.path), found, style=style_for(sys.stdout)))
    return 0
