"""One command on many models: each in a process of its own, so that no file stops the others."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec
from msgspec import Struct, field

from graphfix.cli.failures import Failure, describe, tell
from graphfix.cli.limits import Page, given_seconds, page_of, take_model
from graphfix.cli.parameters import STANDARD, ModelPath
from graphfix.cli.shared import limit_options
from graphfix.cli.supervising import INTERRUPTED, supervised
from graphfix.errors import UsageError
from graphfix.rendering.as_json import SCHEMA, error_json

Function = TypeVar("Function", bound=Callable[..., Any])
UNREADABLE, FAULT = 3, 5
_PATTERN = frozenset("*?[")


class _Models(click.Argument):
    """Any number of models, of which one at least is missing where there is none."""

    def get_error_hint(self, ctx: click.Context | None) -> str:
        """Return how the argument is called in an error: one is enough."""
        return "'MODEL'"


class Reported(Struct, frozen=True):
    """What a command says of one model.

    Attributes:
        code: The exit code that it would have for this model alone.
        said: What `--json` prints.
        reports: What `--report` writes, by the suffix of the file.
    """

    code: int
    said: dict[str, Any] = field(default_factory=dict[str, Any])
    reports: dict[str, str] = field(default_factory=dict[str, str])


def models_argument(function: Function) -> Function:
    """Add ``MODEL...``: a path, or a tuple of paths where more than one file may be meant."""
    argument = click.argument(
        "models",
        cls=_Models,
        nargs=-1,
        required=True,
        metavar="MODEL...",
        type=ModelPath(),
        callback=_take_models,
    )
    return limit_options(argument(function))


def _take_models(
    ctx: click.Context, param: click.Parameter, paths: tuple[Path, ...]
) -> Path | tuple[Path, ...]:
    if len(paths) == 1 and not _holds_many(paths[0]):
        taken = take_model(ctx, param, paths[0])
        assert taken is not None
        return taken
    if STANDARD in paths:
        raise UsageError("standard input is one model, and must be the only one", where="-")
    page = page_of(ctx)
    if page is not None:
        page.limit(float("inf"), 0.0)  # each model has limits of its own
    return tuple(dict.fromkeys(each for path in paths for each in _meant(path)))


def _holds_many(path: Path) -> bool:
    """Say whether a path means any number of models; a folder without one is just no model."""
    if path.is_dir():
        return any(path.rglob("*.onnx"))
    return bool(_PATTERN & set(str(path))) and not path.exists()


def _meant(path: Path) -> Sequence[Path]:
    if not _holds_many(path):
        return (path,)
    from graphfix.batch.sources import sources

    return [Path(source.place) for source in sources([str(path)])]


def for_each(paths: Sequence[Path], one: Callable[[Path], Reported]) -> list[Reported]:
    """Return what a command says of each model; one that ends its process has a failure.

    Ends with the first that is interrupted.

    Args:
        paths: The models.
        one: The command on one model: it prints text, and returns the rest.
    """
    ctx = click.get_current_context()
    apart = page_of(ctx) is not None
    found: list[Reported] = []
    for path in paths:
        found.append(_apart(ctx, path, one) if apart else _guarded(path, one, None))
        if found[-1].code >= INTERRUPTED:
            break
    return found


def code_of(reported: Sequence[Reported]) -> int:
    """Return the exit code of all: 0 where each has 0; 3 where none could be read; else 1."""
    codes = [each.code for each in reported]
    if codes[-1] >= INTERRUPTED:
        return codes[-1]
    if FAULT in codes:
        return FAULT
    return UNREADABLE if set(codes) == {UNREADABLE} else int(any(codes))


def many_json(paths: Sequence[Path], reported: Sequence[Reported]) -> dict[str, Any]:
    """Return the object that `--json` prints of many models."""
    models = [
        {"model": str(path), "exit": each.code, **each.said}
        for path, each in zip(paths, reported, strict=False)
    ]
    return {"schema": SCHEMA, "models": models}


def _apart(ctx: click.Context, path: Path, one: Callable[[Path], Reported]) -> Reported:
    """Work on a model in a child with the limits of that model; the context is the child's then."""
    failures: list[Failure] = []

    def note(failure: Failure) -> int:
        failures.append(failure)
        return tell(failure, as_json=False)

    with tempfile.TemporaryFile() as answer:

        def work(page: Page) -> int:
            ctx.find_root().obj = page
            take_model(ctx, ctx.command.params[0], path)
            seconds = given_seconds(ctx)
            if seconds is not None:
                page.limit(time.monotonic() + seconds, seconds)
            reported = _guarded(path, one, page.lasting_folder)
            os.write(answer.fileno(), msgspec.json.encode(reported))
            return reported.code

        code = supervised(work, note)
        answer.seek(0)
        raw = answer.read()
    if failures:
        return _failed(failures[0])
    return msgspec.json.decode(raw, type=Reported) if raw else Reported(code)


def _guarded(path: Path, one: Callable[[Path], Reported], lasting: str | None) -> Reported:
    try:
        reported = one(path)
        sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt):
        return Reported(INTERRUPTED)
    except BrokenPipeError:
        raise
    except Exception as error:
        failure = describe(error, sys.argv[1:], lasting)
        tell(failure, as_json=False)
        return _failed(failure)
    return reported


def _failed(failure: Failure) -> Reported:
    said: Any = error_json(failure.code, failure.message, failure.where, failure.hint)
    return Reported(failure.code, {"error": said["error"]})
