"""`graphfix check`: what blocks a model on a target."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphfix.cli import completion
from graphfix.cli.check_reports import command_of, joined_views, views_of
from graphfix.cli.console import Views, proto_of, report_option, write_reports
from graphfix.cli.limits import page_of
from graphfix.cli.many_models import Reported, code_of, for_each, many_json, models_argument
from graphfix.cli.settings_file import SettingsCommand, settings_option, settings_used
from graphfix.cli.shared import (
    CONTEXT,
    Detail,
    assume_option,
    capability_option,
    detail_options,
    fallback_option,
    output_options,
    pass_file_option,
    shape_option,
    treat_option,
)
from graphfix.report import Finding

if TYPE_CHECKING:
    from graphfix.pipeline.files import CheckRequest, CheckResult


@click.command(cls=SettingsCommand, context_settings=CONTEXT)
@models_argument
@click.option(
    "--target",
    metavar="NAME",
    required=True,
    shell_complete=completion.targets,
    help="See `graphfix targets`.",
)
@shape_option
@assume_option
@treat_option
@fallback_option
@pass_file_option
@click.option(
    "--explain",
    is_flag=True,
    help="Show every node, the source of each fact, and what each pass would do about it.",
)
@click.option(
    "--verify",
    type=click.Choice(["rules", "engine"]),
    default="rules",
    show_default=True,
    help="What to ask: the rules known of the engine, or the engine on this machine too (engine), "
    "which loads and runs the model.",
)
@click.option("--engine", "verify", flag_value="engine", hidden=True)
@capability_option
@report_option(".html", ".json", ".sarif", ".xml")
@detail_options
@settings_option
@output_options
def check(
    *,
    models: Path | tuple[Path, ...],
    as_json: bool,
    verify: str,
    reports: tuple[Path, ...],
    detail: Detail,
    **asked: Any,
) -> int:
    """List all problems of MODEL on a target, each with the engine's own error text.

    MODEL may be - for standard input. Several files, folders (searched for
    *.onnx to their depth) and patterns such as 'nets/**/*.onnx' are checked one
    after the other, each in a process of its own; --json prints one object then.
    With --verify engine, errors of the real engine are reported at their node too;
    `graphfix targets --install` gets engines. --report writes a page (.html, of
    one model), SARIF 2.1.0 (.sarif) or JUnit XML (.xml) as well.

    Exit codes: 0 no problem; 1 problems, certain or possible, or one of several
    files cannot be read; 2 wrong usage; 3 MODEL cannot be read or is not a model;
    5 a fault in graphfix; 130 Ctrl-C.
    """
    from graphfix.cli.console import emit, emit_json, style_for
    from graphfix.rendering.style import printable

    def one(path: Path) -> Reported:
        def given(views: Views) -> dict[str, str]:
            if isinstance(models, tuple):  # they are joined in the end
                return {suffix: views[suffix]() for suffix in sorted(suffixes)}
            write_reports(reports, views)
            return {}

        if isinstance(models, tuple) and not as_json and detail is not Detail.VERDICT:
            emit(f"\n{style_for(sys.stdout).paint(printable(str(path)), 'bold')}\n")
        said = None if as_json else detail
        engine = verify == "engine"
        return _checked(path, asked, given if reports else None, engine=engine, detail=said)

    suffixes = {path.suffix.lower() for path in reports}
    if isinstance(models, Path):
        reported = one(models)
        if as_json:
            emit_json(reported.said)
        return reported.code
    if ".html" in suffixes:
        raise click.UsageError(
            "a page shows one model: name one, or see `graphfix batch --report` for a table of many"
        )
    every = for_each(models, one)
    write_reports(reports, joined_views(models, every))
    if as_json:
        emit_json(many_json(models, every))
    else:
        _sum_up(models, every)
    return code_of(every)


def _checked(
    path: Path,
    asked: Mapping[str, Any],
    given: Callable[[Views], dict[str, str]] | None,
    *,
    engine: bool,
    detail: Detail | None,
) -> Reported:
    """Check one model: print the text, return the rest; views of it are `given` to be written.

    Without a detail nothing is printed on stdout.
    """
    from graphfix.cli.console import say, stdout_kept
    from graphfix.cli.parameters import shown, source
    from graphfix.rendering.as_json import check_json
    from graphfix.rendering.short_lines import rule_fault_text
    from graphfix.worker.limits import single_threaded

    with single_threaded():
        from graphfix.pipeline.files import CheckRequest, check_file

    page = page_of(click.get_current_context())
    lasting = page.lasting_folder if page is not None else None
    folder = Path(lasting or tempfile.gettempdir())
    request = CheckRequest(source(path), reproducers=folder, **asked)
    with stdout_kept():
        proto = proto_of(request.model) if given is not None else None
        result = check_file(request)
        if engine:
            from graphfix.bisection.asking.engine_findings import with_engine

            result = with_engine(request, result)
    settings = settings_used(click.get_current_context())
    if settings:
        from graphfix.rendering.short_lines import SETTINGS

        result = replace(result, notes=(f"{SETTINGS}{settings}", *result.notes))
    for made in result.reproducers:
        say(f"graphfix: note: {rule_fault_text(made)}")
    written: dict[str, str] = {}
    if given is not None and proto is not None:
        written = given(views_of(shown(path), command_of(path, request, result), proto, result))
    if detail is None:
        for note in result.notes:
            say(f"graphfix: note: {note}")
    else:
        _print_text(path, request, result, detail)
    answer: Any = check_json(
        result.target.name, result.findings, result.explanations, result.named, result.placed
    )
    return Reported(int(any(f.blocks for f in result.findings)), answer, written)


def _print_text(path: Path, request: CheckRequest, result: CheckResult, detail: Detail) -> None:
    from graphfix.cli.console import emit, style_for
    from graphfix.cli.parameters import shown
    from graphfix.rendering.short_check import answer_line, short_check

    name, target = shown(path), result.target.name
    style = style_for(sys.stdout)
    if detail is Detail.VERDICT:
        emit(answer_line(name, target, result.findings))
        return
    command = command_of(path, request, result)
    if detail is Detail.SHORT and not request.explain:
        said = (name, target, result.findings, result.notes)
        asked: dict[str, Any] = {"engine": result.engine, "placed": result.placed}
        emit(short_check(*said, **asked, command=command, style=style))
        return
    from graphfix.rendering.text_check import check_text

    emit(
        check_text(
            name,
            target,
            result.findings,
            result.notes,
            explain=request.explain,
            remedies=_remedies(result.findings, request.pass_files) if request.explain else (),
            explanations=result.explanations,
            named=result.named,
            engine=result.engine,
            placed=result.placed,
            command=command,
            style=style,
        )
    )


def _sum_up(models: Sequence[Path], every: Sequence[Reported]) -> None:
    from graphfix.cli.console import emit
    from graphfix.rendering.style import count

    codes = [reported.code for reported in every]
    parts = [f"{codes.count(0)} without problems", f"{codes.count(1)} with problems"]
    other = len(codes) - codes.count(0) - codes.count(1)
    parts += [f"{other} not checked"] if other else []
    emit(f"\n{count(len(models), 'model')}: {', '.join(parts)}")


def _remedies(findings: Iterable[Finding], pass_files: Sequence[str | Path]) -> tuple[str, ...]:
    """Return one line for each pass that removes a finding: what it does, how close it stays."""
    from graphfix.authoring.registry import all_passes

    helpful = {name for f in findings for name in f.removed_by}
    return tuple(
        f"{info.id} ({info.accuracy}): {info.summary}"
        for info in all_passes(tuple(map(Path, pass_files)))
        if info.id in helpful
    )
