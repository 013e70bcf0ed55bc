"""The command that fails on a model: run without a shell, its output and its end caught."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from graphfix.errors import UsageError

PLACE = "{}"
OPTION = "--fails"
# What is searched for the text of --match, and what is shown of it.
_MOST_BYTES = 16 << 20
_SHOWN_LINES = 12


class End(Struct, frozen=True):
    """How a command ended.

    Attributes:
        code: Its exit code; negative for a signal, None where it was stopped for taking too long.
        output: What it wrote, errors included; of a long text the end.
    """

    code: int | None
    output: str

    @property
    def failed(self) -> bool:
        """Whether this is a failure at all."""
        return self.code != 0

    @property
    def kind(self) -> str:
        """How it ended, in words."""
        if self.code is None:
            return "took too long"
        if self.code < 0:
            with contextlib.suppress(ValueError):
                return f"killed by {signal.Signals(-self.code).name}"
        return f"exit code {self.code}"

    @property
    def tail(self) -> str:
        """The last lines of the output."""
        return "\n".join(self.output.strip().splitlines()[-_SHOWN_LINES:])


class Command:
    """A command line with ``{}`` where the path of a model goes.

    The line is split into words as a shell does it (quotes and backslashes), and nothing else of
    a shell happens: no variables, wildcards, pipes or redirections. ``sh -c '...'`` has those.
    """

    def __init__(self, line: str, timeout: float) -> None:
        """Split the line.

        Raises:
            UsageError: It has no words, an open quote or no ``{}``.
        """
        try:
            self._words = shlex.split(line)
        except ValueError as error:
            text = str(error).lower().rstrip(".")
            raise UsageError(f"{line!r} cannot be split into words: {text}", where=OPTION) from None
        if not any(PLACE in word for word in self._words):
            raise UsageError(
                f"{line!r} has no {PLACE}",
                where=OPTION,
                hint=f"{PLACE} stands for the path of the model",
            )
        self._timeout = timeout

    def run(self, model: Path) -> End:
        """Run the command on a model file.

        Raises:
            UsageError: There is no such command, or it cannot be started.
        """
        words = [word.replace(PLACE, str(model)) for word in self._words]
        with tempfile.TemporaryFile() as output:
            try:
                process = subprocess.Popen(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                reason = "there is no such command"
                if not isinstance(error, FileNotFoundError):
                    reason = f"cannot be started: {error.strerror}"
                raise UsageError(f"{words[0]!r}: {reason}", where=OPTION) from None
            return End(self._wait(process), _read(output))

    def _wait(self, process: subprocess.Popen[bytes]) -> int | None:
        try:
            return process.wait(self._timeout)
        except subprocess.TimeoutExpired:
            return None
        finally:
            # What it started goes with it, on time or not.
            if hasattr(os, "killpg"):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
            process.wait()


def _read(stream: BinaryIO) -> str:
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - _MOST_BYTES))
    return stream.read().decode("utf-8", "replace")
