"""One run of `graphfix run` on one file: how it ended, and the processor time of all processes."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

KILLED = -9
# As `graphfix.worker` and `graphfix.proving` say that a limit was met.
_LIMIT = re.compile(r"took longer than|ran out of memory|used up|does not fit|GiB available")
_BLOCKING = ("reject", "wrong", "builder")
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


class Row(Struct, frozen=True):
    """What became of a file.

    Attributes:
        file: Its path below the folder.
        kind: What made it: `exported`, or the end of its name before `.onnx`.
        code: The exit code of `graphfix run`; minus a signal's number.
        verification: The status of the whole comparison; empty without a report.
        reason: Why that is not equal, why something is left, or the error.
        cpu: Seconds of a processor, of all processes.
        wall: Seconds by the clock.
    """

    file: str
    kind: str
    code: int
    verification: str
    reason: str
    cpu: float
    wall: float

    @property
    def met_limit(self) -> bool:
        """Whether the whole comparison says nothing because of a limit of memory or time."""
        inconclusive = self.verification in ("inconclusive", "skipped")
        return inconclusive and bool(_LIMIT.search(self.reason))


def adopt_orphans() -> None:
    """Be the parent of what runs on after a command, so that its processor time is known."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def run_file(
    path: Path,
    name: str,
    target: str,
    options: Sequence[str],
    patience: float,
    *,
    alone: bool = False,
    out: Path | None = None,
) -> Row:
    """Run the command line on one file.

    Args:
        path: The file.
        name: As the table shows it.
        target: The target.
        options: Further words for the command line.
        patience: Seconds by the clock after which it is killed.
        alone: Whether this process has no other children, after `adopt_orphans`: what the command
            leaves running is then waited for, and counted.
        out: Where the result is to be kept.
    """
    with tempfile.TemporaryDirectory(prefix="pipelines-") as scratch:
        written = str(out or Path(scratch) / "out.onnx")
        words = ["run", str(path), "--target", target, "-o", written, "--json", *options]
        words.append("--trust-rules")
        said, error = Path(scratch) / "said", Path(scratch) / "error"
        start = time.monotonic()
        with said.open("wb") as stdout, error.open("wb") as stderr:
            child = subprocess.Popen(
                [sys.executable, "-m", "graphfix", *words],
                stdout=stdout,
                stderr=stderr,
                cwd=scratch,
                start_new_session=True,
            )
            code, cpu = _waited(child, start + patience)
        wall = time.monotonic() - start
        cpu += _rest() if alone else 0.0
        verification, reason = _reported(said, error)
    return Row(name, kind_of(name), code, verification, reason, round(cpu, 2), round(wall, 2))


def kind_of(name: str) -> str:
    """Return which tool wrote a file, as the scripts that make them name it."""
    stem = Path(name).name.removesuffix(".onnx")
    return stem.rpartition(".")[2] if "." in stem else "exported"


def _waited(child: subprocess.Popen[bytes], deadline: float) -> tuple[int, float]:
    while True:
        pid, status, used = os.wait4(child.pid, os.WNOHANG)
        if pid:
            child.returncode = os.waitstatus_to_exitcode(status)
            return child.returncode, used.ru_utime + used.ru_stime
        if time.monotonic() > deadline:
            os.killpg(child.pid, 9)
            deadline = float("inf")
        time.sleep(0.01)


def _rest() -> float:
    """Wait for what the command left to us; return its seconds."""
    spent = 0.0
    while True:
        try:
            _, _, used = os.wait3(0)
        except ChildProcessError:
            return spent
        spent += used.ru_utime + used.ru_stime


def _reported(said: Path, error: Path) -> tuple[str, str]:
    """Return the status of the comparison and what is worth saying of a run."""
    try:
        report: dict[str, Any] = json.loads(said.read_text(encoding="utf-8"))
    except ValueError:
        lines = error.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return "", _short(lines[-1] if lines else "no report")
    if "error" in report:
        return "", _short(str(report["error"]["message"]))
    found: dict[str, Any] = report["verification"]
    status = str(found["status"])
    reason = "" if status == "equal" else str(found["reason"])
    left = [f for f in report["findings_after"] if f["severity"] in _BLOCKING]
    features = list(dict.fromkeys(str(f["feature"]) for f in left))
    if features:
        reason = "; ".join(filter(None, (reason, f"left: {', '.join(features)}")))
    return status, _short(reason)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 160 else f"{line[:157]}..."
