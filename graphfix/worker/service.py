"""Ask a child process: the one way in which graphfix runs what it does not trust."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Generator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from graphfix.errors import EngineFailed, NoDevice, NoEngine
from graphfix.worker.limits import (
    WAITED,
    WAITING,
    Limits,
    engine_seconds,
    is_late,
    is_overworked,
    more_seconds,
    seconds_left,
)
from graphfix.worker.messages import (
    STDERR,
    ChildFault,
    Host,
    Message,
    is_out_of_memory,
    read_answer,
    read_work,
)
from graphfix.worker.standing_child import Standing
from graphfix.worker.template import Handle, command, environment, forked, is_single_threaded
from graphfix.worker.template import spawned as spawned_template

T = TypeVar("T")
_INF = float("inf")
_LAST_LINES = 400
_PATIENCE = 5.0
_TRIES = 2
_LOST = "its process could not be started, or its parent was killed"
_CRASHED = "the engine crashed"
_TRACEBACK = "Traceback (most recent call last):"
# How a library says that it was not given memory, or that the machine has nothing left to give.
_SHORT = (
    *("MemoryError", "bad_alloc", "failed to map segment", "Cannot allocate memory"),
    *("No space left on device", "Too many open files", "can't start new thread"),
)
_CAN_FORK = hasattr(os, "fork") and hasattr(socket, "send_fds")


class OutOfTime(EngineFailed):
    """A child took longer than it may."""


def says_nothing(failure: EngineFailed) -> bool:
    """Say whether an engine failed for what this machine lacks, which says nothing of a model."""
    lacks = isinstance(failure, OutOfTime | NoEngine | NoDevice)
    return lacks or is_out_of_memory(failure.message)


class Crashed(EngineFailed):
    """A signal ended a child, such as that of a division by zero."""


def ask(
    task: str,
    folder: Path,
    request: object,
    limits: Limits,
    answer: type[T],
    *,
    child: Standing | None = None,
) -> T:
    """Have a child do one task, and return its answer.

    The child sees the environment, the working folder and the module path of this process as they
    are now. What it prints is kept for the message about its death, and not shown. It dies with
    this process.

    Args:
        task: ``module:function``: takes the folder, the request, as which its annotation has it,
            and the limits, with the bytes of memory that it got; returns the answer.
        folder: A temporary folder for this request; both sides may put files there.
        request: What to do, of what `graphfix.worker.messages.packed` writes.
        limits: Time and memory.
        answer: What the task returns.
        child: One that stays, and serves the further requests that name it; None for a child of
            this request alone. Without fork each request has its own in any case.

    Raises:
        EngineFailed: The child crashed (`Crashed`), ran out of memory or of time (`OutOfTime`),
            or said so.
        UsageError: The request names something that is not there.
        InvalidModel: A file is not a model.
        ChildFault: The task raised something else, which is a fault of ours.
    """
    keeper = _keeper()
    # A driver of a device takes minutes to build what it runs, however small the model.
    left = keeper.left()
    share = max(left - limits.spare, left / 2) / limits.together if limits.held else _INF
    # What is said where time runs out: which of the limits it was.
    of_all = share <= min(limits.seconds, seconds_left())
    work = limits.work if share == _INF else min(limits.seconds, share)
    clock = max(WAITING * share, WAITED) if share > 0.0 else 0.0
    timeout = min(limits.timeout, seconds_left(), clock)
    limits = replace(limits, timeout=timeout, work=work)
    Message(task, request, limits, Host.here()).write(folder)
    start = time.monotonic()
    try:
        if not _CAN_FORK:
            code = _spawned(folder, limits)
        else:
            code = _earlier(child, task, folder, limits) if child else _forked(task, folder, limits)
        # Else it is a timer of the task's.
        if is_overworked(code) or (is_late(code) and time.monotonic() - start >= limits.timeout):
            raise _late(limits)
    except OutOfTime:
        if not of_all:
            raise
        raise OutOfTime(
            f"took longer than the {engine_seconds():.3g} s that all engines together get for a "
            f"small file; --timeout {more_seconds()} gives more"
        ) from None
    finally:
        if limits.held:
            used = read_work(folder)
            if used is None:  # it was ended, and worked for no longer than it was there
                used = min(time.monotonic() - start, _INF if work is None else work)
            keeper.spend(used)
    if code != 0:
        text = _death(code, folder / STDERR)
        raised = _raised(folder / STDERR) if code > 0 else ""
        if raised:
            raise ChildFault(raised)
        raise Crashed(text) if text.startswith(_CRASHED) else EngineFailed(text)
    return read_answer(folder, answer)


def fork_here() -> None:
    """Make the template a copy of this process, which has imported numpy and onnx.

    Only for a process that is ours, before it has threads: the command line. Without effect where
    there is a template already, or where a copy would not be safe.
    """
    if _CAN_FORK and is_single_threaded():
        import_module("onnx").defs.has("Relu")  # made here, the table of schemas is shared
        _keeper().adopt()


def end_template() -> None:
    """End the template of this process; the next request starts another."""
    _keeper().end()


def engine_work_spent() -> float:
    """Return the seconds of a processor that the children of this process have used."""
    return _keeper().spent()


class _Keeper:
    """Holds the template of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._handle: Handle | None = None
        self._spent = 0.0

    def left(self) -> float:
        """Return the seconds of work that children still have, where the file is a small one."""
        return max(0.0, engine_seconds() - self._spent)

    def spent(self) -> float:
        return self._spent

    def spend(self, seconds: float) -> None:
        with self._lock:
            self._spent += seconds

    def adopt(self) -> None:
        with self._lock:
            if self._handle is None:
                self._handle = forked()

    def channel(self, folder: Path, task: str, *lines: socket.socket) -> socket.socket:
        """Return the channel of a new child, of a new template where the last one is gone."""
        with self._lock:
            if self._handle is not None:
                try:
                    return self._handle.ask(folder, task, *lines)
                except OSError:
                    self._handle.end()
            self._handle = spawned_template()
            return self._handle.ask(folder, task, *lines)

    def end(self) -> None:
        with self._lock:
            if self._handle is not None:
                self._handle.end()
            self._handle = None

    def forget(self) -> None:
        """Be that of a copy of the process: the template belongs to the other one."""
        if self._handle is not None:
            self._handle.forget()
        self._handle = None
        self._spent = 0.0
        self._lock = threading.Lock()  # the old one may be held by a thread that is not here


@cache
def _keeper() -> _Keeper:
    keeper = _Keeper()
    atexit.register(keeper.end)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=keeper.forget)
    return keeper


def _forked(task: str, folder: Path, limits: Limits) -> int:
    for _ in range(_TRIES):
        with _started():
            channel = _keeper().channel(folder, task)
        code = _exit_code(_waited(channel, limits))
        if code is not None:
            return code
    raise EngineFailed(_LOST)


def _earlier(child: Standing, task: str, folder: Path, limits: Limits) -> int:
    for _ in range(_TRIES + 1):
        known = child.is_ready()
        if not known:
            with _started():
                child.start(folder, task, _keeper().channel)
        try:
            if child.answers(folder, limits):
                return 0
        except BaseException as error:
            with child.released() as channel:
                _kill(channel)
            if isinstance(error, TimeoutError):
                raise _late(limits) from None
            raise
        answer = _waited(child.released(), limits)
        code = None if known else _exit_code(answer)
        if code is not None:
            return code
    raise EngineFailed(_LOST)


@contextlib.contextmanager
def _started() -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise EngineFailed(f"no process can be started: {error.strerror}") from None


def _exit_code(answer: bytes) -> int | None:
    """Return the exit code that a template tells; None where it was killed before it had begun.

    Raises:
        EngineFailed: It could start no child, or was killed after that.
    """
    if answer and (not answer.strip() or answer.strip() == b"null"):
        raise EngineFailed(_LOST)
    return json.loads(answer) if answer else None


def _waited(channel: socket.socket, limits: Limits) -> bytes:
    """Return what a template tells of a child, which is killed when its time is up."""
    with channel:
        try:
            return _received(channel, time.monotonic() + limits.timeout)
        except BaseException as error:
            _kill(channel)
            if isinstance(error, TimeoutError):
                raise _late(limits) from None
            raise


def _kill(channel: socket.socket) -> None:
    """Have a child killed; it is gone before the folder of its request is."""
    with contextlib.suppress(OSError, EOFError):
        channel.shutdown(socket.SHUT_WR)
        _received(channel, time.monotonic() + _PATIENCE)


def _received(channel: socket.socket, deadline: float) -> bytes:
    """Return all that comes until the other end is closed.

    What is there counts, however late it is read: this process may have been stopped.

    Raises:
        TimeoutError: It is open still.
    """
    data = b""
    while True:
        channel.settimeout(max(0.0, deadline - time.monotonic()))
        try:
            part = channel.recv(64)
        except ConnectionResetError:
            part = b""
        except BlockingIOError:
            raise TimeoutError from None
        if not part:
            return data
        data += part


def _spawned(folder: Path, limits: Limits) -> int:
    """Run one request in an interpreter of its own, where the system has no fork."""
    with (
        (folder / STDERR).open("wb") as stderr,
        subprocess.Popen(
            command("once", str(folder)),
            stdin=subprocess.PIPE,  # it ends with this process, and then the child does
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            env=environment(),
        ) as process,
    ):
        try:
            return process.wait(limits.timeout)
        except subprocess.TimeoutExpired:
            raise _late(limits) from None
        finally:
            process.kill()


def _late(limits: Limits) -> OutOfTime:
    return OutOfTime(f"took longer than {limits.seconds:.3g} s")


def _raised(log: Path) -> str:
    """Return the exception that ended a child; empty where none did, or it was short of memory."""
    text = log.read_text(encoding="utf-8", errors="replace").strip() if log.exists() else ""
    _, found, trace = text.rpartition(_TRACEBACK)
    if not found or any(word in trace for word in _SHORT):
        return ""
    return next((line for line in reversed(trace.splitlines()) if line[:1].strip()), "")


def _death(code: int, log: Path) -> str:
    text = log.read_text(encoding="utf-8", errors="replace").strip() if log.exists() else ""
    tail = " ".join(text[-_LAST_LINES:].split())
    if "bad_alloc" in text or "MemoryError" in text:
        return "ran out of memory"
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"{_CRASHED} ({name}){': ' + tail if tail else ''}"
    return f"the engine's process ended with code {code}{': ' + tail if tail else ''}"
