"""What `graphfix check --report` writes: of one model, and of many."""

from __future__ import annotations

from collections.abc import Sequence
from json import loads
from pathlib import Path
from typing import TYPE_CHECKING

from graphfix.cli.console import Views, json_text
from graphfix.cli.many_models import Reported, many_json
from graphfix.cli.parameters import STANDARD
from graphfix.ir.printing import shell_line

if TYPE_CHECKING:
    from onnx import ModelProto

    from graphfix.pipeline.files import CheckRequest, CheckResult


def command_of(path: Path | str, request: CheckRequest, result: CheckResult) -> str:
    """Return the command that repairs a model for the target of a check."""
    own = str(request.target or "")  # a file of the user has to be named as it was
    target = own if own.endswith(".toml") else result.target.name
    off = ["--no-fallback"] if request.no_fallback else []
    out = ["-o", "OUT.onnx"] if str(path) == str(STANDARD) else []
    return shell_line(["graphfix", "run", str(path), "--target", target, *off, *out])


def views_of(path: str, command: str, proto: ModelProto, result: CheckResult) -> Views:
    """Return the views of one model, by suffix."""

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
            named=result.named,
            engine=result.engine,
            command=command,
        )
        return rendered(page)

    def json() -> str:
        from graphfix.rendering.as_json import check_json

        parts = (result.findings, result.explanations, result.named, result.placed)
        return json_text(check_json(result.target.name, *parts))

    def sarif() -> str:
        from graphfix.rendering.sarif import check_sarif

        return json_text(check_sarif(path, result.target.name, result.findings))

    def junit() -> str:
        from graphfix.rendering.junit import check_junit

        return check_junit(path, result.target.name, result.findings)

    return {".html": html, ".json": json, ".sarif": sarif, ".xml": junit}


def joined_views(models: Sequence[Path], every: Sequence[Reported]) -> Views:
    """Return the views of many models, each of which has given its own."""
    from graphfix.rendering.junit import joined_junit
    from graphfix.rendering.sarif import joined_sarif

    def parts(suffix: str) -> list[str]:
        return [reported.reports[suffix] for reported in every if suffix in reported.reports]

    return {
        ".json": lambda: json_text(many_json(models, every)),
        ".sarif": lambda: json_text(joined_sarif([loads(text) for text in parts(".sarif")])),
        ".xml": lambda: joined_junit(parts(".xml"), _unread(models, every)),
    }


def _unread(models: Sequence[Path], every: Sequence[Reported]) -> dict[str, str]:
    """Return why models could not be read, by their paths."""
    return {
        str(path): str(reported.said["error"]["message"])
        for path, reported in zip(models, every, strict=False)
        if "error" in reported.said
    }
