"""Running the program: every way in which it can end becomes an exit code and one line."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from graphfix.cli.program import COMMANDS, OWN_PROCESS, program

if TYPE_CHECKING:
    from graphfix.cli.page import Page

INTERRUPTED = 130
INTERPRETING = frozenset(COMMANDS) - {"batch", "passes", "serve", "targets"}
_OBJECTS = 400_000  # between two collections


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; see the table in `graphfix --help`.

    Args:
        arguments: The words after `graphfix`, worked on in this process; None for those that the
            process was started with, of which a child is made, with limits.
    """
    if arguments is not None:
        return _main(list(arguments), None, own=False)
    words = sys.argv[1:]
    if not hasattr(os, "fork") or not interprets(words):
        code = _main(words, None, own=True)
        gc.freeze()  # the process ends: what is left need not be searched for cycles
        return code
    from graphfix.cli.supervising import supervised

    return supervised(lambda page: _main(words, page, own=True))


def interprets(words: Sequence[str]) -> bool:
    """Say whether a command line interprets a model, and is not a question for help."""
    first = next((word for word in words if not word.startswith("-")), "")
    return first in INTERPRETING and not {"-h", "--help", "--version"} & set(words)


def _main(words: list[str], page: Page | None, *, own: bool) -> int:
    if page is not None:
        page.as_json = _has_flag(words, "--json")
    try:
        owner = page or (OWN_PROCESS if own else None)
        if own:
            # Most of a short run is imports, which make much and leave no garbage.
            gc.set_threshold(_OBJECTS)
            if not (_wants_debug(words) or sys.warnoptions):
                # What numpy, onnx and protobuf warn of while they look at a model says nothing
                # to who gave it.
                warnings.simplefilter("ignore")
        if page is not None and not _wants_debug(words):
            from graphfix.cli.console import drop_native_stderr

            drop_native_stderr()
        code = program.main(args=words, prog_name="graphfix", standalone_mode=False, obj=owner)
        sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt):
        sys.stderr.write("graphfix: interrupted\n")
        return INTERRUPTED
    except BrokenPipeError:
        _silence_stdout()
        return 1
    except Exception as error:
        from graphfix.cli.failures import report_failure

        return report_failure(
            error,
            words,
            as_json=_has_flag(words, "--json"),
            debug=_wants_debug(words),
            lasting=page.lasting_folder if page is not None else None,
        )
    return code if isinstance(code, int) else 0


def _has_flag(words: Sequence[str], flag: str) -> bool:
    """Say whether a flag is on the line, even where the line could not be parsed."""
    end = words.index("--") if "--" in words else len(words)
    return flag in words[:end]


def _wants_debug(words: Sequence[str]) -> bool:
    """Say whether tracebacks are wanted, by option or environment."""
    return _has_flag(words, "--debug") or os.environ.get("GRAPHFIX_DEBUG", "") not in ("", "0")


def _silence_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush is quiet too."""
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - lives until the end
