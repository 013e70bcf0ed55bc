"""The template process: it has imported what children need, and forks one for each request.

It opens no session and starts no thread of its own, reads requests from one socket, and ends with
the process at the other end of it, its children with it. POSIX only. It is started when it is
first needed; `Handle` is how the process that asks it sees it.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from msgspec import Struct

from graphfix.worker.child import request_type, serve, task_of
from graphfix.worker.limits import single_threaded
from graphfix.worker.messages import (
    STDERR,
    Message,
    prepare_type,
    read_imported,
    write_imported,
    write_work,
)
from graphfix.worker.parent_death import die_with_parent

# How often it looks whether its parent still lives, should the end of the socket not tell.
_LOOK = 1.0
# What says that a child was begun; the exit code follows it.
BEGUN = b" "
# What a child that stays tells when a request is answered.
DONE = b"\n"
_HEAD = 4
_FAILED = 1
_IMPORTED = ("numpy", "numpy.random", "onnx", "onnxruntime", "msgspec")


def send_request(
    control: socket.socket, channels: Sequence[socket.socket], folder: Path, task: str
) -> None:
    """Ask a template for a child; what becomes of it comes on the first channel.

    Args:
        control: The socket of the template.
        channels: Its ends of one pair or two. The template writes `BEGUN` to the first, then the
            exit code, and closes it; where the other end is closed or shut down first, the child
            is killed. With a second one the child serves the folders that come there instead.
        folder: The folder of the request.
        task: See `graphfix.worker.service.ask`.
    """
    payload = json.dumps({"folder": str(folder.absolute()), "task": task}).encode()
    head = len(payload).to_bytes(_HEAD, "big")
    socket.send_fds(control, [head + payload], [channel.fileno() for channel in channels])


# Signals of a fault, none of which says that a limit was met.
_CRASHES = frozenset({-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGFPE, -signal.SIGILL})


class _Child(Struct, frozen=True):
    pid: int
    channel: socket.socket
    folder: Path


class Template:
    """Forks children until the process that asks is gone."""

    def __init__(self, control: socket.socket, parent: int) -> None:
        """Take the socket on which requests come, and the number of the process that asks."""
        self._control = control
        self._parent = parent
        self._children: dict[int, _Child] = {}
        self._lacking: set[str] = set()  # what children had to import
        self._selector = selectors.PollSelector()
        self._woken, self._waker = os.pipe()

    def run(self) -> None:
        """Serve requests; returns when the process that asks is gone."""
        for descriptor in (self._woken, self._waker):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks
        signal.signal(signal.SIGCHLD, _noted)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        self._selector.register(self._control, selectors.EVENT_READ)
        self._selector.register(self._woken, selectors.EVENT_READ)
        try:
            while os.getppid() == self._parent:
                for key, _ in self._selector.select(_LOOK):
                    self._handle(key.fileobj)
        except EOFError:
            return  # the other end is closed
        finally:
            for child in self._children.values():
                _kill(child.pid)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(child.pid, 0)  # so that whoever waits for this one waits for it too

    def _handle(self, source: Any) -> None:
        if source is self._control:
            self._accept()
        elif source == self._woken:
            with contextlib.suppress(BlockingIOError):
                os.read(self._woken, 4096)
            self._reap()
        elif source.fileno() >= 0:  # no one waits for this child any more
            self._selector.unregister(source)
            for child in self._children.values():
                if child.channel is source:
                    _kill(child.pid)

    def _accept(self) -> None:
        head, descriptors, _, _ = socket.recv_fds(self._control, _HEAD, 2)
        if not head or not descriptors:
            raise EOFError
        payload = b""
        size = int.from_bytes(head, "big")
        while len(payload) < size:
            part = self._control.recv(size - len(payload))
            if not part:
                raise EOFError
            payload += part
        request = json.loads(payload)
        channel, *lines = [socket.socket(fileno=number) for number in descriptors]
        prepare(request["task"], self._lacking)
        self._lacking.clear()
        sys.stderr.flush()
        try:
            with warnings.catch_warnings():
                # The thread that onnxruntime starts when it is imported waits for nothing of ours.
                warnings.simplefilter("ignore", DeprecationWarning)
                pid = os.fork()
        except OSError:
            pid = None
        if pid == 0:
            self._become_child(channel, lines, Path(request["folder"]))
        for line in lines:
            line.close()
        if pid is None:
            _tell(channel, None)
            return
        with contextlib.suppress(OSError):  # the child does it too: whoever comes first
            os.setpgid(pid, pid)
        with contextlib.suppress(OSError):
            channel.sendall(BEGUN)
        self._children[pid] = _Child(pid, channel, Path(request["folder"]))
        self._selector.register(channel, selectors.EVENT_READ)

    def _reap(self) -> None:
        while self._children:
            try:
                pid, status, used = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            child = self._children.pop(pid, None)
            if child is None:
                continue
            with contextlib.suppress(KeyError):
                self._selector.unregister(child.channel)
            code = os.waitstatus_to_exitcode(status)
            self._lacking.update(read_imported(child.folder))
            if code in _CRASHES:  # it came to no note of its work
                with contextlib.suppress(OSError):
                    write_work(child.folder, used.ru_utime + used.ru_stime)
            _tell(child.channel, code)

    def _become_child(
        self, channel: socket.socket, lines: list[socket.socket], folder: Path
    ) -> NoReturn:
        code = _FAILED
        try:
            template = os.getppid()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for kept in (self._control, channel, *(c.channel for c in self._children.values())):
                kept.close()
            os.close(self._woken)
            os.close(self._waker)
            with contextlib.suppress(OSError):
                os.setpgid(0, 0)  # what an engine starts is killed with it
            die_with_parent(template)
            known = frozenset(sys.modules)
            for each in _asked_on(lines[0]) if lines else (folder,):
                _log_to(each)
                serve(each)
                write_imported(each, sys.modules.keys() - known)
            code = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            with contextlib.suppress(Exception):
                sys.stderr.flush()
            os._exit(code)


def _log_to(folder: Path) -> None:
    """Keep what is printed on descriptor 2 in the folder of a request."""
    log = os.open(folder / STDERR, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(log, 2)
    os.close(log)


def _asked_on(line: socket.socket) -> Iterator[Path]:
    """Yield the folders of requests until the other end is closed; tell there when one is done."""
    with line.makefile("rwb", buffering=0) as file:
        while words := file.readline():
            yield Path(os.fsdecode(words.rstrip(b"\n")))
            file.write(DONE)


def prepare(task: str, lacking: Iterable[str] = ()) -> None:
    """Import what all children need, what this task needs, and what earlier children lacked.

    A task that cannot be imported fails in its child, where someone hears of it.
    """
    known = len(sys.modules)
    with single_threaded():
        for module in _IMPORTED:
            import_module(module)
        import_module("onnx").defs.has("Relu")  # makes the table of all schemas
        with contextlib.suppress(Exception):
            for kind in (Message, request_type(task_of(task))):
                prepare_type(kind)
        for module in lacking:
            with contextlib.suppress(Exception):
                import_module(module)
    if len(sys.modules) != known:
        gc.freeze()  # so that the collector of a child does not touch, and copy, these pages


def become_template(control: socket.socket, parent: int) -> NoReturn:
    """Make this process a template: with no input, no output, and no one's descriptors."""
    code = _FAILED
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2, *_others()):
            if descriptor not in (control.fileno(), nothing):
                # Not closed: an object that owns the number may close it later on.
                os.dup2(nothing, descriptor)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - to the end
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(  # noqa: SIM115
            2, "w", encoding="utf-8", errors="backslashreplace", closefd=False
        )
        for number in (signal.SIGTERM, signal.SIGALRM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        Template(control, parent).run()
        code = 0
    finally:
        os._exit(code)


def _others() -> list[int]:
    """Return the descriptors of this process above the standard ones."""
    for folder in ("/proc/self/fd", "/dev/fd"):
        with contextlib.suppress(OSError):
            listed = [int(name) for name in os.listdir(folder) if name.isdigit()]
            return [number for number in listed if number > 2 and _is_open(number)]
    return []


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _noted(_: int, __: object) -> None:
    """Take a signal only so that it is written to the pipe that wakes the loop."""


def _tell(channel: socket.socket, code: int | None) -> None:
    with contextlib.suppress(OSError):  # no one waits for it any more
        channel.sendall(json.dumps(code).encode())
    channel.close()


def _kill(pid: int) -> None:
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(OSError):
            kill(pid, signal.SIGKILL)


_PATIENCE = 5.0
_POLL = 0.001


class Handle:
    """A running template, seen from the process that asks it."""

    def __init__(self, control: socket.socket, pid: int) -> None:
        """Take its socket and its number."""
        self._control = control
        self._pid = pid
        self._lock = threading.Lock()

    def ask(self, folder: Path, task: str, *lines: socket.socket) -> socket.socket:
        """Have it fork a child; return the channel on which the exit code will come.

        With a line the child stays, see `graphfix.worker.template.send_request`.

        Raises:
            OSError: It is gone.
        """
        mine, theirs = socket.socketpair()
        try:
            with theirs, self._lock:
                send_request(self._control, (theirs, *lines), folder, task)
        except BaseException:
            mine.close()
            raise
        return mine

    def end(self) -> None:
        """Tell it to end, and wait until it has."""
        self._control.close()
        deadline = time.monotonic() + _PATIENCE
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(self._pid, os.WNOHANG)[0] == 0:
                if time.monotonic() > deadline:
                    os.kill(self._pid, signal.SIGKILL)
                time.sleep(_POLL)

    def forget(self) -> None:
        """Leave it to the process that it belongs to; this one is a copy of that."""
        self._control.close()


def spawned() -> Handle:
    """Start a template as a fresh interpreter.

    Raises:
        OSError: It cannot be started.
    """
    mine, theirs = socket.socketpair()
    with theirs:
        number = theirs.fileno()
        process = subprocess.Popen(
            command("template", str(number), str(os.getpid())),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(number,),
            env=environment(),
        )
    process.returncode = 0  # it is waited for by its number
    return Handle(mine, process.pid)


def forked() -> Handle:
    """Make a copy of this process the template; the caller has seen to it that it has no threads.

    Raises:
        OSError: The system has no process to give.
    """
    mine, theirs = socket.socketpair()
    parent = os.getpid()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    pid = os.fork()
    if pid == 0:
        mine.close()
        become_template(theirs, parent)
    theirs.close()
    return Handle(mine, pid)


def command(*words: str) -> list[str]:
    """Return the command line of a worker: not even the working folder is looked into first."""
    return [sys.executable, "-P", "-m", "graphfix.worker", *words]


def environment() -> dict[str, str]:
    """Return the environment of a worker that finds what this process finds."""
    root = str(Path(__file__).absolute().parents[2])
    paths = [root, *(entry for entry in sys.path if os.path.isabs(entry))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}


def is_single_threaded() -> bool:
    """Say whether this process has one thread only, those of native libraries counted."""
    if threading.current_thread() is not threading.main_thread():
        return False
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False
