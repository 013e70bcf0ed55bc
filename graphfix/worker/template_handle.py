"""The template of a process: started when it is first needed, ended with the process."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from graphfix.worker.template import become_template, send_request

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
