"""`graphfix check`: what stands in the way of a model on a target."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphfix.cli.reports import json_text, proto_of, report_option, write_reports
from graphfix.cli.shared import (
    CONTEXT,
    assume_option,
    capability_option,
    model_argument,
    output_options,
    pass_file_option,
    shape_option,
    treat_option,
)
from graphfix.report import Finding

if TYPE_CHECKING:
    from onnx import ModelProto

    from graphfix.files import CheckRequest, CheckResult


@click.command(
    context_settings=CONTEXT, short_help="List what a target rejects or computes wrongly."
)
@model_argument
@click.option("--target", metavar="NAME", required=True, help="See `graphfix targets`.")
@shape_option
@assume_option
@treat_option
@pass_file_option
@click.option(
    "--explain",
    is_flag=True,
    help="Show every node, the source of each fact, and what each pass would do about it.",
)
@click.option(
    "--engine",
    is_flag=True,
    help="Ask the engine itself too, where this machine has it: it loads and runs the model.",
)
@capability_option
@report_option(".html", ".json", ".sarif", ".xml")
@output_options
def check(
    *, as_json: bool, explain: bool, engine: bool, reports: tuple[Path, ...], **asked: Any
) -> int:
    """List all problems of MODEL on a target, each with the engine's own error text.

    MODEL may be - for standard input. With --engine a refusal is told at its
    node even where no rule knows it; `graphfix targets --install` gets engines.
    --report writes a page (.html), SARIF 2.1.0 (.sarif) or JUnit XML (.xml) as well.

    Exit codes: 0 no problem; 1 problems, certain or possible; 2 wrong usage; 3
    MODEL cannot be read or is not a model; 5 a fault in graphfix; 130 Ctrl-C.
    """
    from graphfix.cli.console import emit, emit_json, say, stdout_kept, style_for
    from graphfix.cli.streams import shown, source
    from graphfix.worker.single_thread import single_threaded

    with single_threaded():
        from graphfix.files import CheckRequest, check_file

    path: Path = asked.pop("model")
    request = CheckRequest(source(path), explain=explain, **asked)
    with stdout_kept():
        proto = proto_of(request.model) if reports else None
        result = check_file(request)
        if engine:
            from graphfix.asking.engine_findings import with_engine

            result = with_engine(request, result)
    code = int(any(f.blocks for f in result.findings))
    if proto is not None:
        _write(reports, shown(path), proto, request, result)
    if as_json:
        from graphfix.rendering.as_json import check_json

        for note in result.notes:
            say(f"graphfix: note: {note}")
        emit_json(check_json(result.target.name, result.findings, result.explanations))
        return code
    from graphfix.rendering.text_check import check_text

    emit(
        check_text(
            shown(path),
            result.target.name,
            result.findings,
            result.notes,
            explain=explain,
            remedies=_remedies(result.findings, request.pass_files) if explain else (),
            explanations=result.explanations,
            loaded_by=result.loaded_by,
            asked=_own_target(request),
            style=style_for(sys.stdout),
        )
    )
    return code


def _own_target(request: CheckRequest) -> str:
    """Return the file of the user that is the target; empty where it is none."""
    target = str(request.target or "")
    return target if target.endswith(".toml") else ""


def _write(
    reports: Sequence[Path],
    path: str,
    proto: ModelProto,
    request: CheckRequest,
    result: CheckResult,
) -> None:
    target = _own_target(request) or result.target.name

    def html() -> str:
        from graphfix.rendering.html.check_page import check_page
        from graphfix.rendering.html.page import rendered

        page = check_page(
            path,
            result.target.name,
            proto,
            result.findings,
            result.notes,
            explanations=result.explanations,
            loaded_by=result.loaded_by,
            command=shlex.join(["graphfix", "run", path, "--target", target]),
        )
        return rendered(page)

    def json() -> str:
        from graphfix.rendering.as_json import check_json

        return json_text(check_json(result.target.name, result.findings, result.explanations))

    def sarif() -> str:
        from graphfix.rendering.sarif import check_sarif

        return json_text(check_sarif(path, result.target.name, result.findings))

    def junit() -> str:
        from graphfix.rendering.junit import check_junit

        return check_junit(path, result.target.name, result.findings)

    write_reports(reports, {".html": html, ".json": json, ".sarif": sarif, ".xml": junit})


def _remedies(findings: Iterable[Finding], pass_files: Sequence[str | Path]) -> tuple[str, ...]:
    """Return one line for each pass that removes a finding: what it does, how close it stays."""
    from graphfix.registry import all_passes

    helpful = {name for f in findings for name in f.removed_by}
    return tuple(
        f"{info.id} ({info.accuracy}): {info.summary}"
        for info in all_passes(tuple(map(Path, pass_files)))
        if info.id in helpful
    )
