"""Running the program: every way in which it can end becomes an exit code and one line."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

import click

from graphfix.cli.program import program
from graphfix.cli.template import OWN_PROCESS

INTERRUPTED = 130
_OBJECTS = 100_000  # between two collections


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; see the table in `graphfix --help`.

    Args:
        arguments: The words after `graphfix`; those of the process when None.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        owner = None
        if arguments is None:
            owner = OWN_PROCESS
            # Most of a short run is imports, which make much and leave no garbage.
            gc.set_threshold(_OBJECTS)
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
            error, words, as_json=_has_flag(words, "--json"), debug=_wants_debug(words)
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
