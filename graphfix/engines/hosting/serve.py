"""The process that holds an engine: ``PYTHON -I serve.py PROGRAM PARENT MEMORY [IDLE]``.

It is self-contained, since the Python that has the engine is seldom the one that has graphfix:
Python 3.8 or newer, the standard library, numpy, and what PROGRAM imports. PARENT is the process
that started it, with which it ends; MEMORY the bytes of addresses that models may take, 0 for no
limit. With IDLE a process that took long to start survives who started it, for who comes next,
unless it has said no to anything; it ends, with its folder, once nothing was asked for so many
seconds.

Requests and answers are lines of JSON on stdin and stdout:

- ``{"version": true}`` -> ``{"version": "..."}``
- ``{"load": PATH, "shapes": {NAME: [...]}}`` -> ``{"loaded": true}`` or
  ``{"refused": TEXT, "stage": TEXT}``
- ``{"run": "in.npz", "names": [...], "out": "out.npz"}`` -> ``{"ran": true, "names": [...]}``, null
  for names where outputs come in the order of the graph, or ``{"failed": TEXT, "stage": TEXT}``

Arrays lie in the archives as ``arr_0``, ``arr_1``, ... in the order of the names.

PROGRAM defines ``version() -> str`` and ``load(path, shapes)``, which returns a function from the
inputs by name to the outputs, by name or as a list in the order of the graph. What they raise is a
refusal; its attribute ``stage`` says where it happened: ``device`` where a model was taken and
there is nothing here to run it on.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import select
import shutil
import signal
import sys
import time
from typing import Any, TextIO

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_LONGEST = 4000
KEPT = "kept"  # the file that says that the process survives who started it
_LONG = 0.6  # seconds of a processor for starting that are worth it
_WORK = 120  # seconds of a processor for one request: what converts the smallest model may need


def main(program: str, parent: int, memory: int, idle: float = 0.0) -> None:
    """Answer requests until there are no more.

    Args:
        program: The file that knows the engine.
        parent: The process to end with.
        memory: The most bytes of addresses for models; 0 for no limit.
        idle: Seconds without a request after which it ends that survives its parent; 0 for never.
    """
    folder = os.getcwd()
    _end_with(parent)
    # Engines print: the channel is kept for answers alone.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    _limit(0)  # that of who started it is not for libraries, which reserve what holds nothing
    _limit_work()  # nor is its time
    try:
        host = _Host(program)
    except BaseException as error:
        _say(answers, _words("broken", error))
        return
    _limit(memory)
    _say(answers, {"ready": True})
    if idle and time.process_time() > _LONG:
        _survive(folder)
    else:
        idle = 0.0
    while not idle or select.select([sys.stdin], [], [], idle)[0]:
        line = sys.stdin.readline()  # one at a time, so that none waits in a buffer
        if not line:
            return
        _limit_work()
        answer = host.answer(json.loads(line))
        kept = os.path.join(folder, KEPT)
        if idle and ("refused" in answer or "failed" in answer) and os.path.exists(kept):
            os.unlink(kept)  # what it says next may be of what that has left in it
        _say(answers, answer)
    shutil.rmtree(folder, ignore_errors=True)


def _survive(folder: str) -> None:
    with open(os.path.join(folder, KEPT), "wb"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, 0, 0, 0, 0)


def _end_with(parent: int) -> None:
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if hasattr(os, "getppid") and os.getppid() != parent:
        os._exit(1)


def _limit(memory: int) -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        _, hard = resource.getrlimit(kind)
        most = memory + _reserved() if memory and kind == resource.RLIMIT_AS else hard
        try:
            resource.setrlimit(kind, (most, hard))
        except (ValueError, OSError):
            continue  # a lower hard limit holds already; macOS refuses RLIMIT_AS


def _limit_work() -> None:
    """Let the next request have a time of its own, whatever who started this process may take."""
    try:
        import resource
    except ImportError:  # Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    wanted = int(time.process_time()) + 1 + _WORK
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (wanted, hard))
    except (ValueError, OSError):
        return


def _reserved() -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as stream:
            return int(stream.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _say(answers: TextIO, what: dict[str, Any]) -> None:
    answers.write(json.dumps(what) + "\n")
    answers.flush()


def _words(kind: str, error: BaseException) -> dict[str, Any]:
    text = " ".join(str(error).split())[:_LONGEST]
    name = type(error).__name__
    if isinstance(error, MemoryError) or "bad_alloc" in text:
        text = f"it ran out of memory: {text or name}"
    return {kind: text or name, "stage": str(getattr(error, "stage", ""))}


class _Host:
    """The engine, and the model that it has loaded."""

    def __init__(self, program: str) -> None:
        spec = importlib.util.spec_from_file_location("program", program)
        assert spec is not None
        assert spec.loader is not None
        self._program = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self._program)
        self._model: Any = None

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        kind = "failed" if "run" in asked else "refused"
        try:
            if "run" in asked:
                return self._run(asked["run"], asked["names"], asked["out"])
            if "load" in asked:
                self._model = None  # two at once may not fit
                self._model = self._program.load(asked["load"], asked["shapes"])
                return {"loaded": True}
            return {"version": str(self._program.version())}
        except BaseException as error:
            return _words(kind, error)

    def _run(self, given: str, names: list[str], out: str) -> dict[str, Any]:
        import numpy

        with numpy.load(given) as archive:
            feed = {name: archive[f"arr_{i}"] for i, name in enumerate(names)}
        results: Any = self._model(feed)
        found: list[str] | None = None
        if hasattr(results, "keys"):
            found = [str(name) for name in results]
            results = [results[name] for name in results]
        numpy.savez(out, *[numpy.asarray(value) for value in results])
        return {"ran": True, "names": found}


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *map(float, sys.argv[4:]))
