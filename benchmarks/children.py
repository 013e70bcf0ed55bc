"""Child processes for the benchmarks: forked, limited in time and memory, and never fatal.

A forked child inherits the modules that its parent has imported, so that hundreds of runs pay for
the imports once; a crash, a hang or a memory blow-up of one ends that child alone. POSIX only.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import NoReturn

Main = Callable[[Sequence[str]], int]

_POLL_SECONDS = 0.005
_RAISED = 70  # EX_SOFTWARE: the call raised, so graphfix's own handling of faults failed


@dataclass(frozen=True)
class Ended:
    """How a child ended.

    Attributes:
        code: The exit code; minus the signal's number when a signal ended it.
        timed_out: Whether it was killed for taking too long.
        seconds: Wall time.
        stdout: What it wrote.
        stderr: What it wrote, tracebacks included.
    """

    code: int
    timed_out: bool
    seconds: float
    stdout: str
    stderr: str


def call_in_child(
    call: Callable[[], int], scratch: Path, *, timeout: float, memory_bytes: int
) -> Ended:
    """Call in a forked child and wait for it.

    Args:
        call: Returns the exit code; what it raises ends the child with a traceback and code 70.
        scratch: An existing folder for what the child writes; it becomes the working folder.
        timeout: Seconds after which the child and its own children are killed.
        memory_bytes: Limit of the address space of the child and of each of its children.
    """
    out, err = scratch / "stdout", scratch / "stderr"
    start = time.monotonic()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _be_child(call, scratch, out, err, memory_bytes)
    code, timed_out = _wait(child, start + timeout)
    return Ended(
        code=code,
        timed_out=timed_out,
        seconds=time.monotonic() - start,
        stdout=out.read_text(encoding="utf-8", errors="replace") if out.exists() else "",
        stderr=err.read_text(encoding="utf-8", errors="replace") if err.exists() else "",
    )


def _wait(child: int, deadline: float) -> tuple[int, bool]:
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), False
        if time.monotonic() > deadline:
            # Its group, so that engines started by the child end with it. A child that is killed
            # before it made its group is killed by its own number.
            try:
                os.killpg(child, signal.SIGKILL)
            except ProcessLookupError:
                os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            return os.waitstatus_to_exitcode(status), True
        time.sleep(_POLL_SECONDS)


def _be_child(
    call: Callable[[], int], scratch: Path, out: Path, err: Path, memory_bytes: int
) -> NoReturn:
    code = _RAISED
    try:
        os.setpgid(0, 0)
        for path, descriptor in ((out, 1), (err, 2)):
            opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            os.dup2(opened, descriptor)
            os.close(opened)
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.chdir(scratch)
        code = call()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code & 0xFF)


def graphfix_main() -> Main:
    """Return graphfix's command line, with all of its modules imported once for all children."""
    package = import_module("graphfix")
    for module in walk_packages(package.__path__, "graphfix."):
        program = module.name.startswith("graphfix.engines.") and module.name.endswith("program")
        if not (program or module.name.endswith("__main__")):  # those run in an engine's own Python
            import_module(module.name)
    main: Main = import_module("graphfix.cli").main
    return main
