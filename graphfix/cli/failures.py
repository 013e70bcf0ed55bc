"""What an exception looks like to a user: one line, one exit code, and JSON where asked for."""

from __future__ import annotations

import errno
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Sequence

import click
from msgspec import Struct

from graphfix.cli.console import emit_json, one_line
from graphfix.errors import GraphfixError, PassBug
from graphfix.rendering.as_json import error_json

FAULT = PassBug.exit_code
_MEANT = re.compile(r"\.? \(?Did you mean (?:one of: )?(.*?)\?\)?$")
_SURROUNDINGS = {errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS}


class Failure(Struct, frozen=True):
    """An exception as the user sees it."""

    code: int
    message: str
    where: str = ""
    hint: str = ""

    def line(self) -> str:
        """Return ``graphfix: error: <where>: <message> (<hint>)``."""
        where = f"{self.where}: " if self.where else ""
        hint = f" ({self.hint})" if self.hint else ""
        return one_line(f"graphfix: error: {where}{self.message}{hint}")


def report_failure(
    error: Exception,
    words: Sequence[str],
    *,
    as_json: bool,
    debug: bool,
    lasting: str | None = None,
) -> int:
    """Tell the user about `error` and return the exit code.

    The line goes to stderr; with `as_json` the error object goes to stdout; the traceback is
    shown with `debug` only.
    """
    failure = describe(error, words, lasting)
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    return tell(failure, as_json=as_json)


def tell(failure: Failure, *, as_json: bool) -> int:
    """Write the line of a failure to stderr, as JSON to stdout too; return its exit code."""
    if as_json:
        emit_json(error_json(failure.code, failure.message, failure.where, failure.hint))
    sys.stderr.write(failure.line() + "\n")
    return failure.code


def describe(error: Exception, words: Sequence[str], lasting: str | None = None) -> Failure:
    """Turn an exception into what the user reads; faults of graphfix get a reproducer.

    It is written to the folder `lasting`, or to the usual one for temporary files.
    """
    if isinstance(error, GraphfixError):
        return Failure(error.exit_code, error.message, error.where, error.hint)
    if isinstance(error, click.ClickException):
        return _usage(error)
    if isinstance(error, OSError) and error.errno in _SURROUNDINGS:
        return Failure(2, os.strerror(error.errno), str(error.filename or ""))
    return _fault(error, words, lasting)


def _usage(error: click.ClickException) -> Failure:
    """Describe a line that click could not parse."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    path = ctx.command_path if ctx is not None else "graphfix"
    message = error.format_message()
    if isinstance(error, click.BadParameter) and error.param is not None and error.message:
        return Failure(2, _as_clause(error.message), _parameter_name(error.param))
    return Failure(2, _as_clause(message), path, f"see `{path} --help`")


def _as_clause(sentence: str) -> str:
    """Return a sentence of click's as a clause after a colon."""
    text = sentence.strip().rstrip(".")
    text = re.sub(r"is not a valid (float|integer)( range)?$", _number, text)
    text = re.sub(_MEANT, r" (did you mean \1?)", text)
    return text if text[:2].isupper() else text[:1].lower() + text[1:]


def _number(found: re.Match[str]) -> str:
    return "is not a number" if found[1] == "float" else "is not an integer"


def _parameter_name(param: click.Parameter) -> str:
    """Return ``--shape`` for an option, ``MODEL`` for an argument."""
    return param.opts[0] if isinstance(param, click.Option) else param.human_readable_name


def _fault(error: Exception, words: Sequence[str], lasting: str | None) -> Failure:
    """Describe a fault of ours; name the reproducer, or write down what is known."""
    where = error.pass_id if isinstance(error, PassBug) else ""
    reproducer = error.reproducer if isinstance(error, PassBug) else ""
    if not reproducer:
        reproducer = _write_fault_file(error, words, lasting)
    said = str(error) if isinstance(error, PassBug) else f"{type(error).__name__}: {error}"
    kept = f"reproducer: {reproducer}" if reproducer else "no reproducer could be written"
    return Failure(
        FAULT, f"a fault in graphfix, not in your model: {said}", where, f"{kept}; please report it"
    )


def _write_fault_file(error: Exception, words: Sequence[str], lasting: str | None) -> str:
    """Write command line and traceback to a new temporary file; empty when that fails."""
    from graphfix.ir.version import __version__

    lines = [
        f"graphfix {__version__}, Python {sys.version}",
        f"arguments: {list(words)!r}",
        f"folder: {os.getcwd()}",
        "",
        *traceback.format_exception(error),
    ]
    try:
        handle, path = tempfile.mkstemp(prefix="graphfix-fault-", suffix=".txt", dir=lasting)
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write("\n".join(lines))
    except OSError:
        return ""
    return path
