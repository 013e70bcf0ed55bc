"""What the children of tests do."""

from __future__ import annotations

import ctypes
import errno
import importlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from onnx import parser

from graphfix.errors import EngineFailed, InvalidModel, UsageError
from graphfix.report import Verdict
from graphfix.worker.limits import Limits, more_work
from graphfix.worker.sessions import open_session

Answer = dict[str, Any]


def state(_: Path, request: Answer, limits: Limits) -> Answer:
    """Say what this process is like."""
    variable = request.get("variable", "HOME")
    return {
        "pid": os.getpid(),
        "parent": os.getppid(),
        "folder": os.getcwd(),
        "path": sys.path,
        "variable": os.environ.get(variable),
        "threads": threading.active_count(),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "modules": [name for name in ("numpy", "onnx", "onnxruntime") if name in sys.modules],
        "timeout": limits.timeout,
        "memory_limit": limits.memory,
    }


def adjacent(_: Path, request: Answer, __: Limits) -> Answer:
    """Import a module of the host's path."""
    return {"said": importlib.import_module(request["module"]).SAID}


def imported(_: Path, request: Answer, __: Limits) -> Answer:
    """Say whether a module was there, and import it."""
    there = request["module"] in sys.modules
    importlib.import_module(request["module"])
    return {"there": there}


def loud(_: Path, __: Answer, ___: Limits) -> Answer:
    """Print where no one is to see it."""
    print("loud on stdout")
    print("loud on stderr", file=sys.stderr)
    os.write(1, b"loud on 1\n")
    os.write(2, b"loud on 2\n")
    return {}


def fails(_: Path, request: Answer, __: Limits) -> Answer:
    """Raise an error of ours, or another one."""
    kinds: dict[str, type[Exception]] = {
        "engine": EngineFailed,
        "usage": UsageError,
        "invalid": InvalidModel,
    }
    if request["kind"] == "disk":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/tmp/full")
    if request["kind"] == "depth":
        raise RecursionError
    kind = kinds.get(request["kind"])
    if kind is None:
        raise ZeroDivisionError("not ours")
    raise kind("reported", where="there", hint="do that")  # type: ignore[call-arg]


def crashes(_: Path, __: Any, ___: Limits) -> Answer:
    """Touch memory that is not there."""
    os.write(2, b"last words\n")
    ctypes.string_at(0)
    return {}


def ends(_: Path, request: Answer, __: Limits) -> Answer:
    """End by a signal, or with a code, after some seconds."""
    time.sleep(request.get("seconds", 0.0))
    if request["signal"]:
        os.kill(os.getpid(), signal.Signals[request["signal"]])
    os._exit(request["code"])


def dies(_: Path, request: Answer, __: Limits) -> Answer:
    """Die where the file is not there yet, or always; note each time."""
    noted = Path(request["once"])
    first = not noted.exists()
    with noted.open("a", encoding="utf-8") as file:
        file.write("died\n")
    if first or request["always"]:
        os.kill(os.getpid(), signal.SIGSEGV)
    return {"lived": True}


def leaves_files(folder: Path, request: Answer, _: Limits) -> Answer:
    """Run a session, leave temporary files of Python and of another program, and maybe die."""
    proto = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[1] x) => (float[1] y) { y = Neg(x) }'
    )
    open_session(proto.SerializeToString())
    tempfile.mkstemp(prefix="left-")
    subprocess.run(["mktemp", "-t", "left-XXXXXX"], check=True, stdout=subprocess.DEVNULL)
    return ends(folder, request, _) if request["signal"] else {}


def eats(_: Path, request: Answer, __: Limits) -> Answer:
    """Take memory."""
    return {"length": len(bytearray(request["bytes"]))}


def sleeps(folder: Path, request: Answer, _: Limits) -> Answer:
    """Write down who this is, with a child of its own, and take time."""
    own = subprocess.Popen(["sleep", str(request["seconds"])])
    text = f"{os.getpid()} {os.getppid()} {own.pid}"
    (folder / "begun.part").write_text(text, encoding="utf-8")
    (folder / "begun.part").rename(folder / "begun")
    time.sleep(request["seconds"])
    return {}


def hangs(_: Path, __: Any, limits: Limits) -> Answer:
    """Take longer than there is time."""
    time.sleep(limits.timeout + 60)
    return {}


def spins(folder: Path, request: Answer, _: Limits) -> Answer:
    """Write down who this is, and take a processor for a time."""
    (folder / "begun.part").write_text(f"{os.getpid()} {os.getppid()}", encoding="utf-8")
    (folder / "begun.part").rename(folder / "begun")
    until = time.monotonic() + request["seconds"]
    while time.monotonic() < until:
        pass
    return {}


def works(_: Path, request: Answer, limits: Limits) -> Answer:
    """Ask for more time, and use a processor for some."""
    more = more_work(limits.seconds, request["needed"])
    until = time.process_time() + request["seconds"]
    while time.process_time() < until:
        pass
    return {"more": more}


def verdict(_: Path, __: Answer, ___: Limits) -> Answer:
    """Answer with an enumeration, which JSON takes for text."""
    return {"verdict": Verdict.EQUAL}


def ends_after_words(_: Path, request: Answer, __: Limits) -> Answer:
    """End the process with 1, having said something."""
    os.write(2, request["said"].encode())
    os._exit(1)
