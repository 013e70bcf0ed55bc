"""`graphfix bisect`: the first node of two files that differs, or the first site of a run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from graphfix.cli.console import json_text, proto_of, report_option, write_reports
from graphfix.cli.help_groups import GroupedCommand
from graphfix.cli.limits import offer_template, take_model
from graphfix.cli.shared import (
    CONTEXT,
    FILE,
    limit_options,
    output_options,
    pass_file_option,
    sample_options,
    selection_options,
)

_NAMES = {
    "options": "--option",
    "assume_ops": "--assume-op",
    "op_types": "--op-type",
    "op_types_file": "--op-type @FILE",
}


@click.command(cls=GroupedCommand, context_settings=CONTEXT)
@limit_options
@click.argument("model", metavar="A", type=FILE, callback=take_model)
@click.argument("after", metavar="[B]", type=FILE, required=False, callback=take_model)
@selection_options
@sample_options
@pass_file_option
@report_option(".html", ".json")
@output_options
def bisect(
    *,
    as_json: bool,
    model: Path,
    after: Path | None,
    inputs: Path | None,
    shapes: dict[str, tuple[int, ...]],
    seed: int,
    pass_files: tuple[Path, ...],
    reports: tuple[Path, ...],
    **chosen: Any,
) -> int:
    """Find the first node of A whose output differs in B, whatever the names.

    With --target, --passes or --opset in place of B: find the first repair of A,
    and the node it acted on, that breaks the outputs. The run is the one that
    `graphfix run` makes, stopped half way; whole outputs decide.

    Exit codes: 0 no difference; 1 different, or not shown to be equal; 2 wrong usage,
    or different inputs; 3 a file cannot be read or is not a model; 5 a fault in graphfix;
    130 Ctrl-C.
    """
    samples: dict[str, Any] = {"inputs": inputs, "shapes": shapes, "seed": seed}
    if after is None:
        asked = {**samples, "pass_files": pass_files, **chosen}
        return _of_a_run(model, asked, as_json, reports)
    given = [_NAMES.get(k, f"--{k.replace('_', '-')}") for k, value in chosen.items() if value]
    if given:
        raise click.UsageError(f"{given[0]} and a second file exclude each other")
    from graphfix.cli.console import emit, emit_json, style_for
    from graphfix.worker.limits import single_threaded

    with single_threaded():
        from graphfix.pipeline.two_models import bisect as bisect_files
    offer_template()

    found = bisect_files(model, after, **samples, pass_files=pass_files)

    def html() -> str:
        from graphfix.rendering.html.page import rendered
        from graphfix.rendering.html.two_pages import bisect_page

        return rendered(bisect_page(str(model), str(after), proto_of(model), found))

    def json() -> str:
        from graphfix.rendering.bisect_json import bisect_json

        return json_text(bisect_json(str(model), str(after), found))

    write_reports(reports, {".html": html, ".json": json})
    if as_json:
        from graphfix.rendering.bisect_json import bisect_json

        emit_json(bisect_json(str(model), str(after), found))
        return found.exit_code
    from graphfix.rendering.bisect_text import bisect_text

    emit(bisect_text(str(model), str(after), found, style=style_for(sys.stdout)))
    return found.exit_code


def _of_a_run(model: Path, asked: dict[str, Any], as_json: bool, reports: tuple[Path, ...]) -> int:
    from graphfix.cli.console import emit, emit_json, stdout_kept, style_for
    from graphfix.cli.progress import progress_hooks
    from graphfix.worker.limits import single_threaded

    with single_threaded():
        from graphfix.bisection.bisecting import bisect_run
    offer_template()

    if asked["target"] is None and asked["opset"] is None and asked["passes"] is None:
        raise click.UsageError("give a second file, or --target, --passes or --opset")
    skip = asked.pop("skip") or ()
    with progress_hooks() as hooks, stdout_kept():
        found = bisect_run(model, skip=skip, hooks=hooks, **asked)

    def html() -> str:
        from graphfix.rendering.html.bisect_run_page import bisect_run_page
        from graphfix.rendering.html.page import rendered

        return rendered(bisect_run_page(str(model), proto_of(model), found))

    def json() -> str:
        from graphfix.rendering.bisect_json import bisect_run_json

        return json_text(bisect_run_json(str(model), found))

    write_reports(reports, {".html": html, ".json": json})
    if as_json:
        from graphfix.rendering.bisect_json import bisect_run_json

        emit_json(bisect_run_json(str(model), found))
        return found.exit_code
    from graphfix.rendering.bisect_run_text import bisect_run_text

    emit(bisect_run_text(str(model), found, style=style_for(sys.stdout)))
    return found.exit_code
