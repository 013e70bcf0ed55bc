"""A page of memory that a command and the process that watches it both see."""

from __future__ import annotations

import mmap
import os
import signal
import struct
import time

import click

_TIMES = struct.Struct("dd?")
_PLACE, _SUBJECT, _FOLDER, _SIZE = 64, 1024, 2560, 4096
_GRACE, _ENDLESS = 1.0, 1e8
PREFIX = "graphfix-run-"
DEADLINE = "GRAPHFIX_DEADLINE"  # as in graphfix.worker.limits, which costs more to import


class Page:
    """What a child tells: until when it may run, what it is at, where its temporary files are."""

    def __init__(self) -> None:
        """Make an empty page; both sides of a fork see it."""
        self._memory = mmap.mmap(-1, _SIZE)
        self._write_times(float("inf"), 0.0, as_json=False)

    def adopt(self, deadline: float) -> None:
        """Be the page of this process, a child: give it a folder for temporary files of its own."""
        import tempfile

        folder = tempfile.mkdtemp(prefix=PREFIX)
        self._put(_FOLDER, _SIZE, folder)
        tempfile.tempdir = folder
        self.limit(deadline, deadline - time.monotonic())

    def sweep(self) -> None:
        """Remove the folder for temporary files; a second time does nothing."""
        folder = self._get(_FOLDER, _SIZE)
        if not folder:
            return
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            return
        except OSError:
            import shutil

            shutil.rmtree(folder, ignore_errors=True)

    def limit(self, deadline: float, seconds: float) -> None:
        """Say when the child is to be ended, and how many seconds that are.

        Where the process that watches is stopped then, the system does it a moment later.
        """
        self._write_times(deadline, round(seconds, 3), as_json=self.as_json)
        os.environ[DEADLINE] = repr(deadline)
        if self._get(_FOLDER, _SIZE):  # it is the page of this process
            left = max(0.0, deadline - time.monotonic())
            signal.setitimer(signal.ITIMER_REAL, left + _GRACE if left < _ENDLESS else 0.0)

    def _write_times(self, deadline: float, seconds: float, *, as_json: bool) -> None:
        _TIMES.pack_into(self._memory, 0, deadline, seconds, as_json)

    def _times(self) -> tuple[float, float, bool]:
        deadline, seconds, as_json = _TIMES.unpack_from(self._memory, 0)
        return float(deadline), float(seconds), bool(as_json)

    @property
    def deadline(self) -> float:
        """When it is to be ended, by `time.monotonic`."""
        return self._times()[0]

    @property
    def seconds(self) -> float:
        """How long it may take."""
        return self._times()[1]

    @property
    def as_json(self) -> bool:
        """Whether errors are wanted as JSON too."""
        return self._times()[2]

    @as_json.setter
    def as_json(self, wanted: bool) -> None:
        deadline, seconds, _ = self._times()
        self._write_times(deadline, seconds, as_json=wanted)

    @property
    def place(self) -> str:
        """What the child is at."""
        return self._get(_PLACE, _SUBJECT)

    @place.setter
    def place(self, text: str) -> None:
        self._put(_PLACE, _SUBJECT, text)

    @property
    def subject(self) -> str:
        """The file that it works on."""
        return self._get(_SUBJECT, _FOLDER)

    @subject.setter
    def subject(self, text: str) -> None:
        self._put(_SUBJECT, _FOLDER, text)

    @property
    def lasting_folder(self) -> str | None:
        """Where a temporary file outlives the command; None for the usual place."""
        return os.path.dirname(self._get(_FOLDER, _SIZE)) or None

    def _put(self, start: int, end: int, text: str) -> None:
        raw = text.encode("utf-8", "surrogateescape")[: end - start - 1]
        self._memory[start:end] = raw.ljust(end - start, b"\0")

    def _get(self, start: int, end: int) -> str:
        raw = bytes(self._memory[start:end]).partition(b"\0")[0]
        return raw.decode("utf-8", "surrogateescape")


def page_of(ctx: click.Context) -> Page | None:
    """Return the page of a command that someone watches; None for any other."""
    owner = ctx.find_root().obj
    return owner if isinstance(owner, Page) else None
