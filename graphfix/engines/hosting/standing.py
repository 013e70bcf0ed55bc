"""An engine in a process that is started before anything is asked, and serves several askers.

Engines take seconds to import: whoever will ask one starts it first, works on, and says in
`graphfix.engines.interface.Meant` where it is. One asker at a time borrows it, by a file in its
folder that only one can make; an asker that dies with it leaves that file there, so that no answer
is ever read by the wrong one. What ends the process, or cannot borrow it, gets one of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from graphfix.engines.hosting.host import (
    CAPABILITY,
    SERVE,
    STARTING,
    Array,
    Host,
    Refused,
    Shapes,
    answered,
    loading,
    running,
)
from graphfix.engines.hosting.serve import KEPT
from graphfix.errors import EngineFailed
from graphfix.worker.limits import Limits
from graphfix.worker.service import Crashed, OutOfTime

T = TypeVar("T")
HAS_PIPES = hasattr(os, "mkfifo")
_REQUESTS, _REPLIES, _LENT, _READY, _NUMBER = "requests", "replies", "lent", "ready", "number"
_BLOCK = 1 << 16


class StandingEngine:
    """The process, which ends with the thread that made it, or is kept for the next one.

    Attributes:
        folder: What askers borrow it by.
    """

    def __init__(
        self,
        python: Path,
        program: Path,
        *,
        held: bool,
        capability: str = "",
        kept: Path | None = None,
        idle: int = 0,
    ) -> None:
        """Start it, and wait for nothing.

        Args:
            python: The Python that has the engine.
            program: The family's ``program.py``.
            held: Whether the system holds it to a share of the memory.
            capability: What the program is to build for; empty for what it chooses.
            kept: Where its folder is made where it may survive; None where it may not.
            idle: After how many seconds without a question it ends then.

        Raises:
            OSError: It does not start.
        """
        memory = (Limits(0.0).allowed() or 0) if held else 0
        self.folder = Path(tempfile.mkdtemp(prefix="graphfix-engine-", dir=kept))
        words = [str(python.absolute()), "-Iu", str(SERVE), str(program.absolute())]
        variables = {"TMPDIR": str(self.folder), **({CAPABILITY: capability} if capability else {})}
        environment = {"ORT_DISABLE_TELEMETRY": "1", **os.environ, **variables}
        opened: list[int] = []
        try:
            for name in (_REQUESTS, _REPLIES):
                os.mkfifo(self.folder / name, 0o600)
                # An end for reading is never waited for; then there is one to write to.
                opened.append(os.open(self.folder / name, os.O_RDONLY | os.O_NONBLOCK))
                opened.append(os.open(self.folder / name, os.O_WRONLY))
            if kept:  # it has both ends itself, and sees no end of what it reads
                for which, name in ((0, _REQUESTS), (3, _REPLIES)):
                    os.close(opened[which])
                    opened[which] = os.open(self.folder / name, os.O_RDWR)
            asked, self._asks, self._heard, said = opened
            os.set_blocking(asked, True)
            self._process = subprocess.Popen(
                [*words, str(os.getpid()), str(memory), *([str(idle)] if kept else [])],
                stdin=asked,
                stdout=said,
                stderr=subprocess.DEVNULL,
                cwd=self.folder,
                start_new_session=True,
                env=environment,
            )
        except OSError:
            for each in opened:
                os.close(each)
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        # The other two stay open, so that neither side reads an end between two askers.
        os.close(asked)
        os.close(said)
        (self.folder / _NUMBER).write_text(str(self._process.pid), encoding="ascii")

    def is_of_use(self) -> bool:
        """Say whether it can be borrowed."""
        return self._process.poll() is None and can_be_borrowed(self.folder)

    def close(self) -> None:
        """End it, unless it is kept and of use to the next one."""
        survives = (self.folder / KEPT).exists() and self.is_of_use()
        if not survives:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        os.close(self._asks)
        os.close(self._heard)
        if not survives:
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            self._process.returncode = 0  # no one waits for it any more


class BorrowedHost:
    """An engine for one model file: the standing one, or where that ends one of its own.

    Attributes:
        name: The engine, for people.
        first: Whether no other asker had the standing process before.
    """

    def __init__(self, line: _Line, name: str, start: Callable[[], Host]) -> None:
        """Remember how another one is started.

        Args:
            line: To the standing process.
            name: The engine, for people.
            start: Starts a process of its own.
        """
        self.name = name
        self.first = line.first
        self._line: _Line | None = line
        self._start = start
        self._own: Host | None = None
        self._loaded: tuple[Path, Shapes] | None = None

    def version(self) -> str:
        """Return the engine's version; see `Host`."""
        return self._tried(
            lambda line: str(line.asked({"version": True})["version"]), lambda own: own.version()
        )

    def load(self, path: Path, shapes: Shapes) -> None:
        """Load a model; see `Host`."""
        self._loaded = None
        self._tried(
            lambda line: line.asked(loading(path, shapes)), lambda own: own.load(path, shapes)
        )
        self._loaded = (path, shapes)

    def run(self, feed: Mapping[str, Any]) -> dict[str, Array] | list[Array]:
        """Run the model that was loaded last; see `Host`."""
        return self._tried(
            lambda line: running(line.folder, feed, line.asked, self.name),
            lambda own: own.run(feed),
        )

    def _tried(self, one: Callable[[_Line], T], other: Callable[[Host], T]) -> T:
        """Ask the standing process, and what ends it once more in one that nothing ran in."""
        if self._line is not None:
            try:
                return one(self._line)
            except (Refused, OutOfTime):
                raise
            except EngineFailed:
                self._line.drop()
                self._line = None
        if self._own is None or not self._own.alive:
            self.close()
            self._own = self._start()
            if self._loaded is not None:
                self._own.load(*self._loaded)
        return other(self._own)

    def close(self) -> None:
        """Return what was borrowed, and end what was not."""
        if self._line is not None:
            self._line.close()
        if self._own is not None:
            self._own.close()
        self._line = self._own = None


def host_from(folder: str, name: str, start: Callable[[], Host]) -> Host | BorrowedHost:
    """Return a process of an engine for one model file: the standing one, or else a new one.

    Args:
        folder: Of the standing one; empty for none.
        name: The engine, for people.
        start: Starts a new one; raises what `Host` raises.
    """
    line = _borrowed(Path(folder), name) if folder else None
    return start() if line is None else BorrowedHost(line, name, start)


def can_be_borrowed(folder: Path) -> bool:
    """Say whether a standing process is there, and lent to no one."""
    return not (folder / _LENT).exists() and lives(folder)


def lives(folder: Path) -> bool:
    """Say whether a standing process is there."""
    try:
        os.close(os.open(folder / _REQUESTS, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:  # nothing reads it
        return False
    return True


def _borrowed(folder: Path, name: str, seconds: float = 300.0) -> _Line | None:
    """Return the way to a standing process; None where it is lent, has ended or does not start."""
    try:
        os.close(os.open(folder / _LENT, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError:
        return None
    try:
        line = _Line(folder, name, seconds)
    except OSError:  # it has ended: nothing reads what it would be asked
        return None
    if not (folder / _READY).exists():
        try:
            if "ready" not in line.answer(STARTING):
                line.drop()
                return None
        except EngineFailed:
            line.drop()
            return None
        (folder / _READY).touch()
        line.first = True
    return line


class _Line:
    """The way to a standing process, from the asker that has borrowed it.

    Attributes:
        folder: Of the process.
        first: Whether no one had it before.
    """

    def __init__(self, folder: Path, name: str, seconds: float) -> None:
        self.folder, self.first = folder, False
        self._name, self._seconds = name, seconds
        self._rest = b""
        self._asks = os.open(folder / _REQUESTS, os.O_WRONLY | os.O_NONBLOCK)
        os.set_blocking(self._asks, True)
        try:
            self._hears = os.open(folder / _REPLIES, os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            os.close(self._asks)
            raise

    def asked(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return what it answers.

        Raises:
            Refused: It says no.
            OutOfTime: It takes too long, and is ended.
            Crashed: It has ended.
        """
        try:
            os.write(self._asks, (json.dumps(request) + "\n").encode())
        except OSError:
            raise Crashed("it ended", where=self._name) from None
        return answered(self.answer(self._seconds), self._name)

    def answer(self, seconds: float) -> dict[str, Any]:
        """Return the next line; see `asked`."""
        until = time.monotonic() + seconds
        while b"\n" not in self._rest:
            left = max(0.0, until - time.monotonic())
            if not select.select([self._hears], [], [], left)[0]:
                self._kill()
                raise OutOfTime(f"it took longer than {seconds:.3g} s", where=self._name)
            part = os.read(self._hears, _BLOCK)
            if not part:
                raise Crashed("it ended", where=self._name)
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def _kill(self) -> None:
        number = int((self.folder / _NUMBER).read_text(encoding="ascii"))
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(number, signal.SIGKILL)

    def drop(self) -> None:
        """Have nothing to do with it any more; no one gets it."""
        os.close(self._asks)
        os.close(self._hears)

    def close(self) -> None:
        """Let others have it."""
        self.drop()
        (self.folder / _LENT).unlink(missing_ok=True)
