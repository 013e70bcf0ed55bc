"""One command on one file: forked from a process that has imported all, measured from outside."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import time
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from graphfix.authoring.registry import all_passes
from graphfix.cli import main
from graphfix.cli.limits import SMALL_MEMORY, SMALL_SECONDS
from graphfix.engines.targets import resolve
from graphfix.worker.limits import MOST_NEEDED, MOST_WORK

_POLL = 0.01
_COMMANDS = ("run", "check", "inspect")
MODULES = (
    "onnxruntime", "graphfix.pipeline.finishing", "graphfix.pipeline.files",
    "graphfix.inspection.inspection", "graphfix.pipeline.explanations", "graphfix.pipeline.streams",
    "graphfix.rendering.text_report", "graphfix.rendering.text_check", "graphfix.cli.failures",
    "graphfix.rendering.text_inspect", "graphfix.cli.supervising", "graphfix.proving.tasks",
    *(f"graphfix.cli.{name}_command" for name in _COMMANDS),
)  # fmt: skip


class Allowed(NamedTuple):
    """What a command on a file of at most a megabyte may take: seconds, and megabytes."""

    seconds: float = 20.0
    megabytes: float = 2048.0

    @classmethod
    def comparing(cls) -> Allowed:
        """Return what it may take where it compares.

        A file whose own shapes ask for more than small files are given gets it, up to a bound.
        """
        plain = cls()
        return cls(
            plain.seconds + MOST_WORK - SMALL_SECONDS,
            plain.megabytes + (MOST_NEEDED - SMALL_MEMORY) / 2**20,
        )


@dataclass(frozen=True)
class Trial:
    """How a command ended.

    Attributes:
        code: The exit code; minus the number of a signal.
        seconds: Wall time, less what it waited.
        waited: Of the wall time, what it was in line for a processor while none of its processes
            ran: what a quiet machine would not have cost.
        megabytes: The most memory of its own that the tree of processes held at once.
        late: Whether it had to be killed.
        said: The end of stderr.
        left: Files that were not there before, the result left out.
        written: Whether there is a result.
    """

    code: int
    seconds: float
    waited: float
    megabytes: float
    late: bool
    said: str
    left: tuple[str, ...]
    written: bool

    def faults(self, allowed: Allowed) -> list[str]:
        """Return what must not be."""
        wrong = {
            f"exit {self.code}": self.code not in (0, 1, 2, 3, 4),
            "traceback": "Traceback" in self.said,
            f"over {allowed.seconds:g} s": self.late or self.seconds > allowed.seconds,
            f"over {allowed.megabytes:g} MB": self.megabytes > allowed.megabytes,
            "result on exit 2 to 5": self.written and self.code not in (0, 1),
            "files left": bool(self.left),
        }
        return [what for what, holds in wrong.items() if holds]

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return asdict(self)


def warm_up() -> None:
    """Import what commands import, so that each of them costs a fork."""
    # Imported without this, onnxruntime leaves files of its own in the temporary folder.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    for module in MODULES:
        import_module(module)
    all_passes(())
    resolve("trt8")


def trial(words: list[str], folder: Path, result: Path, allowed: Allowed) -> Trial:
    """Run `graphfix` with these words in a folder, as if the process had been started with them.

    Args:
        words: The words after `graphfix`.
        folder: Holds the file alone; temporary files go to a folder next to it.
        result: What the command is to write.
        allowed: What it may take; it is killed when it takes longer.
    """
    temporary = folder.parent / f"{folder.name}.tmp"
    temporary.mkdir()
    said = folder.parent / f"{folder.name}.err"
    before = set(folder.rglob("*"))
    clock = _Clock()
    pid = os.fork()
    if pid == 0:
        _be_command(words, folder, temporary, said)
    peak, late = 0.0, False
    while True:
        ended, status, used = os.wait4(pid, os.WNOHANG)
        if ended:
            break
        there = family(pid)
        peak = max(peak, sum(_held(each) for each in there))
        if clock.tick(there) > allowed.seconds + 2:
            late = True
            for each in [*family(pid), pid]:
                with contextlib.suppress(OSError):
                    os.kill(each, signal.SIGKILL)
            _, status, used = os.wait4(pid, 0)
            break
        time.sleep(_POLL)
    left = {str(p.relative_to(folder.parent)) for p in temporary.rglob("*")}
    left |= {str(p.relative_to(folder.parent)) for p in set(folder.rglob("*")) - before}
    written = result.exists()
    left.discard(str(result.relative_to(folder.parent)))
    text = said.read_text(encoding="utf-8", errors="replace") if said.exists() else ""
    return Trial(
        os.waitstatus_to_exitcode(status),
        round(clock.tick([]), 2),
        round(clock.waited, 2),
        round(max(peak, used.ru_maxrss / 1024), 1),
        late,
        text[-600:],
        tuple(sorted(name for name in left if ".reproducers" not in name)),
        written,
    )


class _Clock:
    """Measures a family of processes, without the time in which it only waited for a processor.

    Attributes:
        waited: That time, in seconds.
    """

    def __init__(self) -> None:
        """Start."""
        self.waited = 0.0
        self._start = self._last = time.monotonic()
        self._known: dict[int, tuple[float, float]] = {}

    def tick(self, pids: list[int]) -> float:
        """Return the seconds so far, less the waiting.

        Of the time since the last tick that counts as waiting which some process was in line
        for, as the scheduler counts it, and in which none of the others ran.
        """
        now = time.monotonic()
        seen = {pid: times for pid in pids if (times := _scheduled(pid)) is not None}
        ran = waited = 0.0
        for pid, times in seen.items():
            before = self._known.get(pid, (0.0, 0.0))
            ran += times[0] - before[0]
            waited = max(waited, times[1] - before[1])
        self.waited += max(0.0, min(waited, now - self._last - ran))
        self._known, self._last = seen, now
        return now - self._start - self.waited


def _scheduled(pid: int) -> tuple[float, float] | None:
    """Return the seconds that a process ran, and those that it waited to."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        words = Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()
        return int(words[0]) / 1e9, int(words[1]) / 1e9
    return None


def family(pid: int) -> list[int]:
    """Return a process and all below it; those that ended meanwhile may be missing."""
    found = [pid]
    for each in found:
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{each}/task"):
                text = Path(f"/proc/{each}/task/{task}/children").read_text(encoding="ascii")
                found += [int(word) for word in text.split()]
    return found


def _held(pid: int) -> float:
    """Return the megabytes that a process holds for itself."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) / 1024
    return 0.0


def _be_command(words: list[str], folder: Path, temporary: Path, said: Path) -> None:
    code = 70
    try:
        os.setsid()
        os.chdir(folder)
        nothing = os.open(os.devnull, os.O_RDWR)
        error = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        for old, new in ((nothing, 0), (nothing, 1), (error, 2)):
            os.dup2(old, new)
        os.environ["TMPDIR"] = str(temporary)
        import tempfile

        tempfile.tempdir = None
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        sys.argv = ["graphfix", *words]
        code = main()
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code & 0xFF)
