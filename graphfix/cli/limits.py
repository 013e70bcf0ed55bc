"""What a command may take: ``--max-memory``, ``--timeout``, and the page that its watcher sees.

A model is read, inferred and rewritten without its weights, so what that takes is a multiple of the
file; engines, which do hold weights, run in children of their own and lift the lower limit. A page
of memory is seen by the command and by the process that watches it.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import signal
import stat
import struct
import time
from pathlib import Path

import click

from graphfix.worker.limits import ENGINE_MEMORY, ENGINE_SECONDS, available_memory

_TIMES = struct.Struct("dd?")
_TURN = 48  # the byte that counts what was written: its last bit is the slot that holds
_SLOTS = (0, 24)
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
        # `pack_into` clears before it writes, and who reads in between would see a deadline of 0:
        # the slot that is not read is written, and then one byte says that it holds.
        turn = (self._memory[_TURN] + 1) % 256
        _TIMES.pack_into(self._memory, _SLOTS[turn % 2], deadline, seconds, as_json)
        self._memory[_TURN] = turn

    def _times(self) -> tuple[float, float, bool]:
        while True:
            turn = self._memory[_TURN]
            deadline, seconds, as_json = _TIMES.unpack_from(self._memory, _SLOTS[turn % 2])
            if turn == self._memory[_TURN]:
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


SIZE_FORM = "a size is a number and B, KiB, MiB or GiB, such as 2GiB"
READING = 3 << 29  # 1.5 GiB
PER_BYTE = 30
PIPED = 1 << 27
SMALL = 1_000_000
SMALL_MEMORY = 5 << 28  # 1.25 GiB: with what the command holds itself less than 2 GiB
SMALL_SECONDS = 12.0  # of a processor
PER_BYTE_NEXT_TO = 3  # a pass may need the values of a weight
SECONDS = 900.0
SMALLEST = 1 << 28  # what Python, numpy and onnx take by themselves
_UNITS = {
    "": 1, "b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
    "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30,
}  # fmt: skip
_OFTEN = ("bisect", "edit", "reduce", "replay")  # run a model, or several, any number of times
_TIMEOUT, _MEMORY, _SIZES = "graphfix.timeout", "graphfix.max_memory", "graphfix.sizes"


def parse_size(text: str, smallest: int = SMALLEST) -> int:
    """Return the bytes of ``2GiB``, ``1500 MB``, ``1073741824``.

    Args:
        text: The size.
        smallest: How little it may be; by default what graphfix takes by itself.

    Raises:
        click.BadParameter: It is none, or too little.
    """
    digits = text.strip().rstrip("BbKkMmGgTtIi ")
    unit = text.strip()[len(digits) :].strip().lower()
    try:
        size = int(float(digits) * _UNITS[unit])
    except (ValueError, KeyError, OverflowError):
        raise click.BadParameter(f"{text!r} is no size: {SIZE_FORM}") from None
    if size < smallest:
        least = f"{smallest >> 20}MiB" if smallest >= 1 << 20 else f"{smallest}B"
        raise click.BadParameter(f"{text!r} is too little to start with: at least {least}")
    return size


def check_size(_ctx: click.Context, _param: click.Parameter, text: str | None) -> str | None:
    """Hold an option that is passed on as it is to being a size."""
    if text is not None:
        parse_size(text)
    return text


def take_timeout(ctx: click.Context, _param: click.Parameter, seconds: float | None) -> None:
    """Hold the command to ``--timeout``."""
    page = page_of(ctx)
    if seconds is None:
        return
    ctx.meta[_TIMEOUT] = seconds
    if page is not None:
        page.limit(time.monotonic() + seconds, seconds)


def check_file_size(_ctx: click.Context, _param: click.Parameter, text: str) -> int:
    """Read the size of a file, which is one byte at least."""
    return parse_size(text, 1)


def given_seconds(ctx: click.Context) -> float | None:
    """Return what ``--timeout`` said; None where it was not given."""
    seconds: float | None = ctx.meta.get(_TIMEOUT)
    return seconds


def take_memory(ctx: click.Context, _param: click.Parameter, text: str | None) -> None:
    """Hold the command and its children to ``--max-memory``."""
    if text is None:
        return
    size = parse_size(text)
    ctx.meta[_MEMORY] = size
    if page_of(ctx) is not None:
        _limit_data(size, for_good=True)


def take_model_untimed(
    ctx: click.Context, _param: click.Parameter, path: Path | None
) -> Path | None:
    """Hold a command that may take hours to what reading its model takes of memory."""
    ctx.meta[_TIMEOUT] = None
    page = page_of(ctx)
    if page is not None:
        page.limit(float("inf"), 0.0)
    return take_model(ctx, _param, path)


def take_model(ctx: click.Context, _param: click.Parameter, path: Path | None) -> Path | None:
    """Hold the command to what reading its models may take, unless the user said it."""
    page = page_of(ctx)
    if page is None or path is None:
        return path
    page.subject = page.subject or str(path)
    page.place = page.place or f"in `graphfix {ctx.info_name}`"
    own, adjacent = ctx.meta[_SIZES] = _added(ctx.meta.get(_SIZES, (0, 0)), _sizes(path))
    limit_engines(ctx, own, adjacent)
    if _TIMEOUT not in ctx.meta:
        seconds = SECONDS + own / (1 << 20)
        page.limit(time.monotonic() + seconds, seconds)
    if _MEMORY not in ctx.meta:
        wanted = READING + PER_BYTE * own + PER_BYTE_NEXT_TO * adjacent
        free = available_memory()
        _limit_data(wanted if free is None else min(wanted, free))
    return path


def limit_engines(ctx: click.Context, own: int, adjacent: int) -> None:
    """Hold engines to little where a model is small; what the user says counts instead.

    A file of some bytes may ask for any number of gigabytes and hours. A model with its weights
    in it that has less than a megabyte needs neither. A command that runs models any number of
    times has no sum of seconds, and the same memory as others.
    """
    small = own + adjacent < SMALL
    for key, name, most in (
        (_TIMEOUT, ENGINE_SECONDS, SMALL_SECONDS),
        (_MEMORY, ENGINE_MEMORY, SMALL_MEMORY),
    ):
        os.environ.pop(name, None)
        if key == _TIMEOUT and ctx.info_name in _OFTEN:
            continue
        if small and key not in ctx.meta:
            os.environ[name] = str(most)


def _sizes(path: Path) -> tuple[int, int]:
    """Return the bytes of a model, and of all next to it that may be its data."""
    own = adjacent = 0
    if path == Path("-"):  # as much as comes
        return PIPED, 0
    with contextlib.suppress(OSError, ValueError):
        found = path.stat()
        own = found.st_size
        if not stat.S_ISREG(found.st_mode):  # a pipe would be waited for
            return own, 0
        if own < SMALL and b"location" not in path.read_bytes():
            return own, 0  # nothing in it names a file
        with os.scandir(path.parent) as entries:
            for entry in entries:
                if not entry.name.endswith(".onnx") and entry.is_file():
                    adjacent += entry.stat().st_size
    return own, adjacent


def _added(one: tuple[int, int], two: tuple[int, int]) -> tuple[int, int]:
    return one[0] + two[0], one[1] + two[1]


def _limit_data(size: int, *, for_good: bool = False) -> None:
    """Let this process hold that many bytes of its own; what it maps of files is not counted.

    Without effect where the system has no such limit.
    """
    try:
        import resource
    except ImportError:  # Windows
        return

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        size = min(size, hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (size, size if for_good else hard))


def offer_template() -> None:
    """Let children be forked from this process, which has imported what they need.

    Called before there is a thread or a model. In a process that is someone else's, such as one
    that calls `graphfix.cli.main` with words of its own, children come from a fresh interpreter.
    """
    # Only a process of our own is given an owner, see `graphfix.cli.program`.
    if click.get_current_context().find_root().obj is not None:
        from graphfix.authoring.registry import shipped_passes
        from graphfix.worker.service import fork_here

        shipped_passes()  # this process needs them as well, children for their numpy models
        fork_here()
