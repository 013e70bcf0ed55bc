"""The option `--report` of several commands: files in the format that their suffix names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from graphfix.cli.parameters import report_files
from graphfix.cli.shared import FILE
from graphfix.errors import UsageError

if TYPE_CHECKING:
    from onnx import ModelProto

    from graphfix.ir.model import Model
    from graphfix.rendering.html.page import Page

Function = TypeVar("Function", bound=Callable[..., Any])
Views = Mapping[str, Callable[[], str]]  # by suffix, what makes the text


def report_option(*suffixes: str) -> Callable[[Function], Function]:
    """Return what adds ``--report``, repeatable, to a command.

    Args:
        suffixes: The formats that the command has, such as ``.html``.
    """
    known = ",".join(suffix.removeprefix(".") for suffix in suffixes)
    return click.option(
        "--report",
        "reports",
        type=FILE,
        multiple=True,
        callback=report_files(*suffixes),
        metavar=f"FILE.{{{known}}}" if len(suffixes) > 1 else f"FILE.{known}",
        help="Write the report there too; repeat for more.",
    )


def write_reports(paths: Sequence[Path], views: Views) -> None:
    """Write each report in the view that its suffix names: a whole one or none.

    Raises:
        UsageError: A file cannot be written.
    """
    from graphfix.ir.storage.saving import write_all, write_atomically

    for path in paths:
        text = views[path.suffix.lower()]()
        raw = text.encode(errors="backslashreplace")
        try:
            if path.is_file() or not path.exists():
                write_atomically(path, partial(write_all, raw=raw))
            else:  # /dev/stdout
                path.write_bytes(raw)
        except OSError as error:
            raise UsageError(
                f"the report cannot be written: {error.strerror}",
                where=str(path),
                hint="the run itself is done",
            ) from error


def html_written(path: Path, page: Page) -> None:
    """Write a page.

    Raises:
        UsageError: The file cannot be written.
    """
    from graphfix.rendering.html.page import rendered

    write_reports((path,), {path.suffix.lower(): lambda: rendered(page)})


def json_text(reported: object) -> str:
    """Return JSON as reports have it."""
    import json

    return json.dumps(reported, allow_nan=False, indent=1) + "\n"


def proto_of(given: Path | Model) -> ModelProto:
    """Return the graph of a model for a page, its weights unread.

    Raises:
        InvalidModel: The file is no model any more.
    """
    from graphfix.ir.storage.reading import read_model

    return read_model(given).proto if isinstance(given, Path) else given.proto
