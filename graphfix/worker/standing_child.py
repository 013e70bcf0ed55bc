"""A child that stays: forked once, asked many times."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

from graphfix.worker.limits import Limits

# Starts a child on a line, and returns the channel on which its end is announced.
Start = Callable[[Path, str, socket.socket], socket.socket]


class Standing:
    """A child that answers one request after another: each costs a tenth of a child of its own.

    For models that may meet what others have left in its memory, such as those of one suite of
    tests. A death counts only of a child that had done nothing before; of another one the request
    is asked again.
    """

    def __init__(self) -> None:
        """Start nothing yet."""
        self._owner = 0
        self._line: socket.socket | None = None
        self._channel: socket.socket | None = None

    def is_ready(self) -> bool:
        """Say whether there is one, of this process and not of the one that it is a copy of."""
        return self._line is not None and self._owner == os.getpid()

    def start(self, folder: Path, task: str, start: Start) -> None:
        """Have one forked.

        Raises:
            OSError: The system has no process to give.
        """
        mine, theirs = socket.socketpair()
        with theirs:
            self._channel = start(folder, task, theirs)
        self._line, self._owner = mine, os.getpid()

    def answers(self, folder: Path, limits: Limits) -> bool:
        """Hand it a folder; return whether it has served that, and not died of it.

        Raises:
            TimeoutError: It has done neither in time.
        """
        line = self._line
        assert line is not None
        if limits.timeout <= 0:
            raise TimeoutError
        line.settimeout(limits.timeout)
        try:
            line.sendall(os.fsencode(folder.absolute()) + b"\n")
            return bool(line.recv(1))
        except (BrokenPipeError, ConnectionResetError):
            return False

    def released(self) -> socket.socket:
        """Close the line; return the channel on which its end is announced."""
        channel = self._channel
        assert channel is not None
        assert self._line is not None
        self._line.close()
        self._line = self._channel = None
        return channel

    def end(self) -> None:
        """End it, where there is one."""
        if self._line is not None:
            self.released().close()
