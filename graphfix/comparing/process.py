"""Start the child process in which engines run, with a memory limit and a time limit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import graphfix
from graphfix.errors import EngineFailed, InvalidModel, UsageError

REQUEST = "request.json"
ANSWER = "answer.json"
_LAST_LINES = 400


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child may take: seconds, and bytes on top of what its libraries reserve."""

    timeout: float
    memory: int | None


def ask(
    folder: Path,
    request: dict[str, Any],
    limits: Limits,
    module: str = "graphfix.comparing.child",
) -> dict[str, Any]:
    """Run one request in a child process and return its answer.

    Args:
        folder: A temporary folder for the request and the answer.
        request: What to do; see `graphfix.comparing.child`.
        limits: Time and memory.
        module: What the child runs.

    Raises:
        EngineFailed: The child crashed, ran out of memory or of time.
        UsageError: The request names something that is not there.
        InvalidModel: A file is not a model.
    """
    request = {**request, "memory_limit": limits.memory, "timeout": limits.timeout}
    (folder / REQUEST).write_text(json.dumps(request), encoding="utf-8")
    command = [sys.executable, "-m", module, str(folder)]
    root = str(Path(graphfix.__file__ or __file__).resolve().parent.parent)
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    log = folder / "stderr.txt"
    try:
        with log.open("wb") as stderr:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                timeout=limits.timeout,
                env=environment,
                check=False,
            )
    except subprocess.TimeoutExpired:
        raise EngineFailed(f"took longer than {limits.timeout:g} s") from None
    if done.returncode != 0:
        text = log.read_text(encoding="utf-8", errors="replace").strip()
        raise EngineFailed(_death(done.returncode, text))
    answer: dict[str, Any] = json.loads((folder / ANSWER).read_text(encoding="utf-8"))
    error = answer.get("error")
    if error is not None:
        kinds = {"usage": UsageError, "invalid": InvalidModel}
        kind = kinds.get(error["kind"], EngineFailed)
        raise kind(error["message"], where=error["where"], hint=error["hint"])
    return answer


def _death(code: int, text: str) -> str:
    tail = " ".join(text[-_LAST_LINES:].split())
    if "bad_alloc" in text or "MemoryError" in text:
        return "ran out of memory"
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"the engine crashed ({name}){': ' + tail if tail else ''}"
    return f"the engine's process ended with code {code}{': ' + tail if tail else ''}"
