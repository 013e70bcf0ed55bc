"""A command and all processes below it, as /proc shows them: what they hold, and ending them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.fleet.hostile import CRASHES, CRASHES_INSIDE

_LOOK = 0.25
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


@dataclass(slots=True)
class Watched:
    """What was seen of a command.

    Attributes:
        code: Its exit code; minus the signal's number where one ended it.
        seconds: Wall time.
        cpu: CPU seconds of all of its processes that ended by themselves or with it.
        peak: The most bytes that all processes held at one look, shared pages counted once.
        most: The most processes at one look.
        crashed: How many processes were ended from outside, because of the file they worked on.
        orphans: How many processes were still there five seconds after its end.
        said: What it wrote on standard output.
    """

    code: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    peak: int = 0
    most: int = 0
    crashed: int = 0
    orphans: int = 0
    said: str = ""


def watch(
    words: Sequence[str], out: Path, kill_after: float = float("inf"), look: float = _LOOK
) -> Watched:
    """Run a command, look at its processes all the time, and kill it after some seconds.

    Args:
        words: The command line.
        out: The file for what it writes on standard output; what it says continues stderr.
        kill_after: When it is sent SIGKILL, which no program can handle.
        look: Seconds from one look to the next; each takes the processors a few milliseconds.
    """
    seen, ever, crashed = Watched(), set[int](), set[int]()
    _adopt()
    before = os.times()
    start = time.monotonic()
    with out.open("wb") as stream, subprocess.Popen(words, stdout=stream) as process:
        while process.poll() is None:
            tree = below(process.pid)
            ever.update(tree)
            held = sum(map(_held, tree))
            seen.peak, seen.most = max(seen.peak, held), max(seen.most, len(tree))
            seen.crashed += _crash(tree, crashed)
            if time.monotonic() - start > kill_after:
                process.kill()
            time.sleep(look)
    seen.code, seen.seconds = process.returncode, time.monotonic() - start
    seen.orphans = _left(ever - {process.pid})
    after = os.times()
    used = after.children_user + after.children_system
    seen.cpu = used - before.children_user - before.children_system
    seen.said = out.read_text(encoding="utf-8", errors="replace")
    return seen


def _adopt() -> None:
    """Become the parent of what loses its own, so that its CPU time is counted here."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def below(pid: int) -> list[int]:
    """Return a process and all below it that are there now."""
    found, open_ones = [pid], [pid]
    while open_ones:
        tasks = Path(f"/proc/{open_ones.pop()}/task")
        with contextlib.suppress(OSError):
            for task in tasks.iterdir():
                children = [int(word) for word in (task / "children").read_text().split()]
                found += children
                open_ones += children
    return found


def _held(pid: int) -> int:
    """Return the bytes that a process holds, its part of what it shares with others counted."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def _crash(tree: Sequence[int], crashed: set[int]) -> int:
    """End what works on a file that is to crash, each once; return how many were ended."""
    count = 0
    for pid in tree:
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
            if "run" not in words or pid in crashed:
                continue
            model = Path(words[words.index("run") + 1]).name
            inside = below(pid)[1:2]
            if inside and model.startswith((CRASHES, CRASHES_INSIDE)):
                os.kill(pid if model.startswith(CRASHES) else inside[0], signal.SIGSEGV)
                crashed.update((pid, *inside))
                count += 1
    return count


def _left(pids: set[int], seconds: float = 5.0) -> int:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        _reap()
        left = sum(_is_there(pid) for pid in pids)
        if not left:
            return 0
        time.sleep(0.1)
    return sum(_is_there(pid) for pid in pids)


def _is_there(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False
