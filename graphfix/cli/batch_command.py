"""`graphfix batch`: many models for several targets, resumable."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphfix.cli import completion
from graphfix.cli.limits import check_size
from graphfix.cli.parameters import (
    OPERATOR_FORM,
    SHAPE_FORM,
    names,
    operators,
    report_files,
    shapes,
)
from graphfix.cli.settings_file import SettingsCommand, settings_option, settings_used
from graphfix.cli.shared import CONTEXT, FILE, fallback_option, output_options, share_option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphfix.batch.batch import Crew


def _names(_ctx: click.Context, _param: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for text in given for name in text.split(",") if name)


@click.command(cls=SettingsCommand, context_settings=CONTEXT)
@click.argument("places", nargs=-1, required=True, metavar="PLACE...")
@click.option(
    "--target",
    "targets",
    multiple=True,
    required=True,
    callback=_names,
    shell_complete=completion.targets,
    metavar="NAME[,NAME...]",
    help="The targets; see `graphfix targets`.",
)
@click.option("--out", required=True, metavar="DIR", help="Where results go: a folder, or a URL.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many to do at a time; default: one for each processor.",
)
@click.option(
    "--rows",
    type=FILE,
    metavar="DIR",
    help="Where rows.jsonl is kept, by which a run continues; default: DIR of --out.",
)
@click.option("--fresh", is_flag=True, help="Do again what is done already.")
@click.option(
    "--no-cache",
    is_flag=True,
    help="Compare every repair again, also one that another model has as well.",
)
@click.option(
    "--verify",
    type=click.Choice(["auto", "sites", "full", "engine", "off"]),
    help="What to compare, as for `graphfix run`.",
)
@click.option(
    "--skip",
    callback=names,
    metavar="A,B",
    shell_complete=completion.passes,
    help="Never use these passes.",
)
@click.option(
    "--except",
    "excepted",
    multiple=True,
    metavar="NODE",
    help="Leave these nodes of every model that has them as they are, as for `graphfix run`.",
)
@click.option(
    "--shape",
    "shapes",
    multiple=True,
    callback=shapes,
    metavar=SHAPE_FORM,
    help="Fix the shape of an input that every model has; repeat for more.",
)
@click.option(
    "--assume-op",
    "assume_ops",
    multiple=True,
    callback=operators,
    metavar=OPERATOR_FORM,
    help="The engine has this operator, as a plugin; repeat for more.",
)
@click.option("--allow-lossy/--no-allow-lossy", help="Allow repairs that change the outputs.")
@click.option("--allow-mended/--no-allow-mended", help="Accept how a broken file was read.")
@click.option(
    "--allow-io-change/--no-allow-io-change",
    help="Allow inputs and outputs to change type or shape.",
)
@click.option(
    "--trust-rules/--no-trust-rules",
    help="Take rules for enough where the engine, whose converter guesses, is not asked.",
)
@fallback_option
@share_option
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Time limit for each model.",
)
@click.option(
    "--max-memory",
    callback=check_size,
    metavar="SIZE",
    help="Memory limit for each model, such as 2GiB.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Work on a Dask scheduler, such as tcp://10.0.0.1:8786; models and DIR have to be where "
    "its workers see them.",
)
@click.option(
    "--report",
    "reports",
    type=FILE,
    multiple=True,
    callback=report_files(".html", ".json"),
    metavar="FILE.{html,json}",
    help="Write the table of all models there too; repeat for more.",
)
@settings_option
@output_options
def batch(
    *,
    places: tuple[str, ...],
    targets: tuple[str, ...],
    out: str,
    jobs: int | None,
    rows: Path | None,
    fresh: bool,
    no_cache: bool,
    scheduler: str | None,
    reports: tuple[Path, ...],
    share_weights: bool,
    as_json: bool,
    **asked: Any,
) -> int:
    """Repair each model at PLACE... for each target, in processes of their own.

    A PLACE is a file, a folder (searched for *.onnx to its depth), a pattern
    such as 'nets/**/*.onnx', @list.txt with a place on each line, or a URL that
    fsspec opens. Results go to DIR/NAME.TARGET.onnx. Results are saved
    for each model; rerunning the command resumes, and repeats only what has
    changed. A model that crashes, hangs or wants too much memory
    ends its own process alone.

    Exit codes: 0 all are written and verified; 1 some are not; 2 wrong usage;
    3 no model could be read; 5 a fault in graphfix; 130 Ctrl-C, what is done is
    kept.
    """
    from graphfix.batch.batch import Request, run_fleet, versions, with_shared_weights
    from graphfix.batch.sources import is_url, sources
    from graphfix.cli.fleet_progress import telling

    if rows is None and is_url(out):
        raise click.UsageError("--out is a URL: say where rows are kept with --rows DIR")
    if share_weights and is_url(out):
        raise click.UsageError("--share-weights requires a folder; --out is a URL")
    if not is_url(out) and Path(out).exists() and not Path(out).is_dir():
        raise click.UsageError(f"--out {out} is a file, not a folder")
    options = _options(**asked)
    settings = settings_used(click.get_current_context())
    if settings:
        from graphfix.cli.console import say

        say(f"graphfix: note: settings: {settings}")
    kept = rows if rows is not None else Path(out)
    request = Request(
        sources(places, None if is_url(out) else Path(out)),
        versions(targets),
        out,
        kept,
        options,
        fresh,
        not no_cache,
    )
    try:
        total = len(request.models) * len(request.targets)
        with telling(request.targets, total, quiet=as_json) as on_row:
            fleet = run_fleet(request, _crew(scheduler, jobs), on_row)
        if share_weights:
            fleet = with_shared_weights(fleet, Path(out))
    except KeyboardInterrupt:
        from graphfix.cli.console import say

        say("what is done is kept: the same command continues")
        raise
    from graphfix.batch.ledger import NAME
    from graphfix.cli.console import json_text, write_reports
    from graphfix.rendering.fleet_text import fleet_json, fleet_text

    def html() -> str:
        from graphfix.rendering.html.fleet_page import fleet_page
        from graphfix.rendering.html.page import rendered

        return rendered(fleet_page(fleet))

    views = {".html": html, ".json": lambda: json_text(fleet_json(fleet, kept / NAME))}
    write_reports(reports, views)
    from graphfix.cli.console import emit, emit_json, style_for

    if as_json:
        emit_json(fleet_json(fleet, kept / NAME))
    else:
        emit(fleet_text(fleet, style_for(sys.stdout)))
    if all(row.exit == 3 for row in fleet.rows):
        return 3
    return int(any(row.exit for row in fleet.rows))


def _options(
    *,
    verify: str | None,
    skip: tuple[str, ...] | None,
    excepted: tuple[str, ...],
    shapes: Mapping[str, tuple[int, ...]],
    assume_ops: tuple[str, ...],
    allow_lossy: bool,
    allow_mended: bool,
    allow_io_change: bool,
    trust_rules: bool,
    no_fallback: bool,
    timeout: float | None,
    max_memory: str | None,
) -> tuple[str, ...]:
    """Return what each model is given, as the words of `graphfix run`."""
    words: list[str] = []
    if skip:
        words += ["--skip", ",".join(skip)]
    for name, sizes in shapes.items():
        words += ["--shape", f"{name}={'x'.join(map(str, sizes))}"]
    for name, values in (("except-if-there", excepted), ("assume-op", assume_ops)):
        words += [word for value in values for word in (f"--{name}", value)]
    for name, value in (("verify", verify), ("timeout", timeout), ("max-memory", max_memory)):
        if value is not None:
            words += [f"--{name}", str(value)]
    words += ["--allow-lossy"] * allow_lossy + ["--allow-io-change"] * allow_io_change
    words += ["--allow-mended"] * allow_mended + ["--trust-rules"] * trust_rules
    words += ["--no-fallback"] * no_fallback
    return tuple(words)


def _crew(scheduler: str | None, jobs: int | None) -> Crew:
    if scheduler is not None:
        from graphfix.batch.dask_crew import DaskCrew

        return DaskCrew(scheduler)
    from graphfix.batch.local_crew import LocalCrew, processors

    return LocalCrew(jobs or processors())
