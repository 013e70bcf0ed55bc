"""Where output goes: results to stdout, all else to stderr, reports to the files of `--report`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from graphfix.cli.parameters import report_files
from graphfix.cli.shared import FILE
from graphfix.errors import UsageError
from graphfix.ir.printing import for_terminal, printable
from graphfix.rendering.style import PLAIN, Style

if TYPE_CHECKING:
    from onnx import ModelProto

    from graphfix.ir.model import Model
    from graphfix.rendering.html.page import Page


def emit(text: str) -> None:
    """Write a result to stdout.

    A reader that went away (``| head``) does not change the exit code: the work is done.
    Characters that the terminal's encoding lacks are as escapes.
    """
    try:
        sys.stdout.write(_encodable(text, sys.stdout) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes stdout once more at its end; that must not raise either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def emit_json(value: dict[str, object]) -> None:
    """Write one JSON object to stdout; the views have replaced what JSON cannot say."""
    emit(json.dumps(value, allow_nan=False))


def say(text: str) -> None:
    """Write one line for people to stderr."""
    sys.stderr.write(_encodable(text, sys.stderr) + "\n")


@contextmanager
def stdout_kept() -> Generator[None]:
    """Keep stdout for the result: what passes print meanwhile goes to stderr.

    ONNX's checker warns with `std::cout` (onnx/checker.cc), which Python's streams do not see; what
    native libraries print says nothing to who gave the model, and is thrown away.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        with redirect_stdout(sys.stderr), _descriptor_kept(1, nowhere):
            yield
    finally:
        os.close(nowhere)


def drop_native_stderr() -> None:
    """Let Python alone write to stderr from now on; what native libraries print is thrown away.

    protobuf, onnx and onnxruntime write to descriptor 2 what Python's streams and filters of
    warnings do not see. For a process of our own only: it is not undone.
    """
    try:
        kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    except OSError:  # it is closed: nothing can be written there
        return
    sys.stderr.flush()
    sys.stderr = open(  # noqa: SIM115 - lives until the end
        kept, "w", buffering=1, encoding=sys.stderr.encoding, errors="backslashreplace"
    )
    os.dup2(nowhere, 2)
    os.close(nowhere)


@contextmanager
def _descriptor_kept(kept: int, instead: int) -> Generator[None]:
    try:
        if sys.__stdout__ is not None:
            sys.__stdout__.flush()
        saved = os.dup(kept)
        os.dup2(instead, kept)
    except OSError:  # one of them is closed: nothing can be written there by mistake
        yield
        return
    try:
        yield
    finally:
        os.dup2(saved, kept)
        os.close(saved)


def style_for(stream: TextIO) -> Style:
    """Return colours for a terminal, plain text for anything else and with NO_COLOR."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return PLAIN
    return Style(colour=True) if stream.isatty() else PLAIN


def one_line(text: str) -> str:
    """Fold line breaks and other control characters away, so that an error is one line."""
    return printable(" ".join(text.split()))


def _encodable(text: str, stream: TextIO) -> str:
    """Escape what the stream's encoding cannot write, and what acts on a terminal."""
    encoding = stream.encoding or "utf-8"
    text = for_terminal(text)
    return text.encode(encoding, "backslashreplace").decode(encoding)


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


def json_text(answer: object) -> str:
    """Return JSON as reports have it."""
    import json

    return json.dumps(answer, allow_nan=False, indent=1) + "\n"


def proto_of(given: Path | Model) -> ModelProto:
    """Return the graph of a model for a page, its weights unread.

    Raises:
        InvalidModel: The file is no model any more.
    """
    from graphfix.ir.storage.reading import read_model

    return read_model(given).proto if isinstance(given, Path) else given.proto
