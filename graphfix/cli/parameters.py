"""The small languages of the options: shapes, pass options, lists of names, report files, models.

Each function is a click callback: it gets the text as typed and returns what it means, or raises
one line with the right form. ``-`` in the place of a file is a standard stream: the model comes
from standard input, the result goes out.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

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


Value = TypeVar("Value")

SHAPE_FORM = "NAME=1x3x224x224"
OPTION_FORM = "PASS.KEY=VALUE"
OPERATOR_FORM = "[DOMAIN::]OP"
TREATED_FORM = "[DOMAIN::]OP=[DOMAIN::]OP"
OP_TYPE_FORM = "[DOMAIN::]OP=TYPES"
RANGE_FORM = "NAME=0..255"
INPUT_FORM = "NAME=FILE"
PLOT_SUFFIXES = (".svg", ".png")

_OP_TYPES_FILE = "graphfix.op_types_file"
_SHAPE = re.compile(r"(?P<name>.+)=(?P<dims>\d+(?:x\d+)*)", re.DOTALL)
_OPTION = re.compile(r"(?P<key>[\w-]+\.[\w-]+)=(?P<value>.*)", re.DOTALL)
_OPERATOR = re.compile(r"(?:[^\s:]+(?:::?[^\s:]+)*::)?[^\s:]+")


def shapes(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, tuple[int, ...]]:
    """Read ``NAME=1x3x224x224``, repeated; a name may hold anything, ``=`` too."""
    return _once_each(_shape(ctx, param, value) for value in values)


def pass_options(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    """Read ``PASS.KEY=VALUE``, repeated; the value is left to the pass."""
    return _once_each(_pass_option(ctx, param, value) for value in values)


def names(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """Read ``a,b``; blanks around a name do not count. None where the option is not given."""
    if value is None:
        return None
    found = tuple(name.strip() for name in value.split(","))
    if not all(found):
        raise _bad(f"{value!r} is not of the form a,b: a name is empty", ctx, param)
    return found


def operators(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """Read ``OP`` or ``DOMAIN::OP``, repeated."""
    for value in values:
        if _OPERATOR.fullmatch(value) is None:
            raise _bad(f"{value!r} is not of the form OP or DOMAIN::OP", ctx, param)
    return values


def op_types(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Read ``[DOMAIN::]OP=TYPES``, repeated; the types are read with the model's.

    ``@FILE`` is kept for `op_types_file`.
    """
    files = [value[1:] for value in values if value.startswith("@")]
    if len(files) > 1:
        raise _bad("one file holds all: two are given", ctx, param)
    ctx.meta[_OP_TYPES_FILE] = Path(files[0]) if files else None
    return _once_each(_op_type(ctx, param, value) for value in values if value[:1] != "@")


def op_types_file(ctx: click.Context, _param: click.Parameter, value: Path | None) -> Path | None:
    """Return the file of ``--op-type @FILE``, or of the option that it had of its own."""
    found: Path | None = value or ctx.meta.get(_OP_TYPES_FILE)
    return found


def report_files(
    *suffixes: str,
) -> Callable[[click.Context, click.Parameter, tuple[Path, ...]], tuple[Path, ...]]:
    """Return what checks that reports can be written, before the work and not after it.

    Args:
        suffixes: The formats that there are, such as ``.html``.
    """
    one = report_file(*suffixes)

    def checked(
        ctx: click.Context, param: click.Parameter, values: tuple[Path, ...]
    ) -> tuple[Path, ...]:
        for value in values:
            one(ctx, param, value)
        return values

    return checked


def report_file(
    *suffixes: str,
) -> Callable[[click.Context, click.Parameter, Path | None], Path | None]:
    """Return what checks the same of one file."""

    def checked(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:
        if value is not None:
            if value.suffix.lower() not in suffixes:
                offered = " or ".join(f"FILE{suffix}" for suffix in suffixes)
                raise _bad(f"{str(value)!r} is not of the form {offered}", ctx, param)
            if not value.parent.is_dir():
                raise _bad(f"{str(value)!r}: there is no folder {str(value.parent)!r}", ctx, param)
        return value

    return checked


def number_ranges(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, tuple[float, float]]:
    """Read ``NAME=LEAST..LARGEST``, repeated; a name may hold anything, ``=`` too."""
    return _once_each(_range(ctx, param, value) for value in values)


def input_files(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, Path]:
    """Read ``NAME=FILE``, repeated."""
    return _once_each(_input_file(ctx, param, value) for value in values)


def plot_file(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:
    """Check that a plot can be written, before the work and not after it."""
    if value is None:
        return None
    if value.suffix.lower() not in PLOT_SUFFIXES:
        raise _bad(f"{str(value)!r} is not of the form FILE.svg or FILE.png", ctx, param)
    if value.suffix.lower() == ".png" and find_spec("matplotlib") is None:
        text = "a .png needs matplotlib (pip install 'graphfix[plot]'), a .svg nothing"
        raise _bad(text, ctx, param)
    if not value.parent.is_dir():
        raise _bad(f"{str(value)!r}: there is no folder {str(value.parent)!r}", ctx, param)
    return value


def _shape(ctx: click.Context, param: click.Parameter, value: str) -> tuple[str, tuple[int, ...]]:
    match = _SHAPE.fullmatch(value)
    if match is None:
        raise _bad(f"{value!r} is not of the form {SHAPE_FORM}", ctx, param)
    return match["name"], tuple(int(dim) for dim in match["dims"].split("x"))


def _range(
    ctx: click.Context, param: click.Parameter, value: str
) -> tuple[str, tuple[float, float]]:
    name, given, rest = value.rpartition("=")
    low, between, high = rest.partition("..")
    try:
        numbers = (float(low), float(high))
    except ValueError:
        numbers = (1.0, 0.0)
    if not (given and name and between) or not numbers[0] <= numbers[1]:
        raise _bad(f"{value!r} is not of the form {RANGE_FORM}", ctx, param)
    return name, numbers


def _input_file(ctx: click.Context, param: click.Parameter, value: str) -> tuple[str, Path]:
    name, given, file = value.partition("=")
    if not (given and name and file):
        raise _bad(f"{value!r} is not of the form {INPUT_FORM}", ctx, param)
    return name, Path(file)


def _pass_option(ctx: click.Context, param: click.Parameter, value: str) -> tuple[str, str]:
    match = _OPTION.fullmatch(value)
    if match is None:
        raise _bad(f"{value!r} is not of the form {OPTION_FORM}", ctx, param)
    return match["key"], match["value"]


def _op_type(ctx: click.Context, param: click.Parameter, value: str) -> tuple[str, str]:
    name, given, types = value.partition("=")
    if not given or not types.strip() or _OPERATOR.fullmatch(name) is None:
        raise _bad(f"{value!r} is not of the form {OP_TYPE_FORM}", ctx, param)
    return name, types


def _once_each(pairs: Iterable[tuple[str, Value]]) -> dict[str, Value]:
    """Return the pairs as a mapping; the same key twice is a mistake, not an override."""
    seen: dict[str, Value] = {}
    for key, value in pairs:
        if key in seen:
            raise click.BadParameter(f"{key!r} is given twice")
        seen[key] = value
    return seen


def _bad(message: str, ctx: click.Context, param: click.Parameter) -> click.BadParameter:
    return click.BadParameter(message, ctx=ctx, param=param)
