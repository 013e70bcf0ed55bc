"""``-`` in the place of a file: the model comes from standard input, the result goes out."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphfix.errors import UsageError

if TYPE_CHECKING:
    from graphfix.ir.model import Model

STANDARD = Path("-")


class ModelPath(click.Path):
    """A path, where ``-`` alone stands for a standard stream and ``./-`` for a file."""

    def __init__(self) -> None:
        """Take any path: a model that is not there ends in 3, not in 2."""
        super().__init__(path_type=Path)

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """Return `STANDARD` for ``-``, and no path that looks like it for anything else."""
        path = Path(value)
        if path == STANDARD and os.fspath(value) != "-":
            return Path.cwd() / path
        return super().convert(value, param, ctx)


def source(path: Path) -> Path | Model:
    """Return the path, or the model that comes from standard input.

    Raises:
        InvalidModel: What comes is no model.
        UsageError: Nothing can be read there, or the model has weights in another file.
    """
    if path != STANDARD:
        return path
    from graphfix.ir.storage.reading import MAX_BYTES
    from graphfix.pipeline.streams import INPUT, model_of_stream

    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise UsageError("is closed", where=INPUT)
    return model_of_stream(stream.read(MAX_BYTES + 1))


def shown(path: Path) -> str:
    """Return how a path is called in what people read."""
    return "standard input" if path == STANDARD else str(path)


def check_one_stream(*paths: Path) -> None:
    """Check that standard input is asked for once at most.

    Raises:
        UsageError: It is the place of two models.
    """
    if sum(path == STANDARD for path in paths) > 1:
        raise UsageError("only one model can come from standard input", where="-")


def write_out(raw: bytes) -> None:
    """Write a model to standard output.

    Raises:
        UsageError: It is closed.
    """
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        raise UsageError("is closed", where="standard output")
    stream.write(raw)
    stream.flush()
