"""The files of a request: what the host writes for a child, and what the child answers."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from graphfix.errors import EngineFailed, GraphfixError, InvalidModel, UsageError
from graphfix.worker.limits import Limits

REQUEST = "request.json"
ANSWER = "answer.json"
STDERR = "stderr.txt"
WORK = "work.txt"
IMPORTED = "imported.txt"

# onnxruntime's text (sequential_executor.cc); the first node is that of the main graph.
_RUNNING = re.compile(r"while running (\w+) node\. Name:'([^']*)'")

T = TypeVar("T")
_KINDS: dict[str, type[GraphfixError]] = {"usage": UsageError, "invalid": InvalidModel}
_FAULT = "fault"
_PREPARED = ("onnx.", "graphfix.")  # what a template may import for its children
_SHORT_OF_MEMORY = "ran out of memory"


class ChildFault(Exception):  # noqa: N818 - a fault of ours, not an error of the user
    """A child of ours raised what no one foresaw, which says nothing of model and engine.

    No `GraphfixError`: what stands for a failing engine must not stand for this too. Its note is
    the child's traceback.
    """


def packed(value: object) -> str:
    """Return one line of JSON for dataclasses, enumerations, paths and what JSON knows itself.

    The standard library writes it, because text may hold bytes that are no Unicode (names of
    files, variables) and numbers may not be finite; both come back as they were.
    """
    from msgspec import to_builtins

    return json.dumps(to_builtins(value, enc_hook=str))


def unpacked(text: str, kind: type[T]) -> T:
    """Return the value of a type that `packed` wrote.

    Raises:
        ValueError: It is another value, or no JSON.
    """
    return _of_kind(json.loads(text), kind)


def prepare_type(kind: Any) -> None:
    """Learn how a type is read; msgspec keeps that, for the children of this process too."""
    from msgspec.json import Decoder

    Decoder(kind)


def _of_kind(answer: object, kind: type[T]) -> T:
    from msgspec import convert

    return convert(answer, kind, dec_hook=lambda path, text: path(text))


class Host(Struct, frozen=True):
    """What a child has to share with the process that asks.

    Attributes:
        folder: The working directory; empty where it is gone.
        environment: All variables.
        path: Where modules are looked for, with the entries of PYTHONPATH.
    """

    folder: str
    environment: dict[str, str]
    path: list[str]

    @classmethod
    def here(cls) -> Host:
        """Return that of this process."""
        try:
            folder = os.getcwd()
        except OSError:
            folder = ""
        named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        further = [entry for entry in named if entry and entry not in sys.path]
        return cls(folder, dict(os.environ), [*sys.path, *further])

    def enter(self) -> None:
        """Make this process share it."""
        if self.folder:
            with contextlib.suppress(OSError):  # gone since
                os.chdir(self.folder)
        known = dict(os.environ)
        for name in known.keys() - self.environment.keys():
            del os.environ[name]
        os.environ.update(
            {name: value for name, value in self.environment.items() if known.get(name) != value}
        )
        sys.path[:] = self.path


class Message(Struct, frozen=True):
    """A request as it is written.

    Attributes:
        task: ``module:function``, see `graphfix.worker.service.ask`.
        request: What to do, of a type that the task knows.
        limits: What the child may take.
        host: See `Host`.
    """

    task: str
    request: Any
    limits: Limits
    host: Host

    def write(self, folder: Path) -> None:
        """Write it into the folder of the request."""
        (folder / REQUEST).write_text(packed(self), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Message:
        """Read what `write` wrote, the request not yet as what it is."""
        return unpacked((folder / REQUEST).read_text(encoding="utf-8"), cls)

    def request_as(self, kind: type[T]) -> T:
        """Return the request as what the task takes."""
        return _of_kind(self.request, kind)


class _Error(Struct, frozen=True):
    kind: str
    message: str
    where: str = ""
    hint: str = ""
    trace: str = ""


class _Answer(Struct, frozen=True):
    value: Any = None
    error: _Error | None = None


def write_answer(folder: Path, value: object) -> None:
    """Answer a request."""
    (folder / ANSWER).write_text(packed(_Answer(value)), encoding="utf-8")


def write_error(folder: Path, error: GraphfixError) -> None:
    """Answer a request with an error of ours."""
    found = (name for name, kind in _KINDS.items() if isinstance(error, kind))
    message = out_of_memory(error.message) if "bad_alloc" in error.message else error.message
    failure = _Error(next(found, "engine"), message, error.where, error.hint)
    (folder / ANSWER).write_text(packed(_Answer(error=failure)), encoding="utf-8")


def write_fault(folder: Path, error: Exception) -> None:
    """Answer a request with an exception that no one foresaw."""
    trace = "".join(traceback.format_exception(error))
    if "bad_alloc" in trace:  # of C++, as what its bindings made of it
        write_error(folder, EngineFailed(out_of_memory(str(error))))
        return
    failure = _Error(_FAULT, f"{type(error).__name__}: {error}", trace=trace)
    (folder / ANSWER).write_text(packed(_Answer(error=failure)), encoding="utf-8")


def write_imported(folder: Path, modules: Iterable[str]) -> None:
    """Say which modules of ONNX and of ours a child had to import, without those of one operator.

    The folder may be gone: then no one waits for the answer.
    """
    names = [
        name
        for name in modules
        if name.startswith(_PREPARED) and not name.startswith("onnx.reference.ops.")
    ]
    if names:
        with contextlib.suppress(OSError):
            (folder / IMPORTED).write_text("\n".join(sorted(names)), encoding="utf-8")


def read_imported(folder: Path) -> list[str]:
    """Return the modules that a child had to import."""
    with contextlib.suppress(OSError, ValueError):
        names = (folder / IMPORTED).read_text(encoding="utf-8").splitlines()
        return [name for name in names if name.startswith(_PREPARED)]
    return []


def write_work(folder: Path, seconds: float) -> None:
    """Note for how many seconds a child used a processor."""
    with contextlib.suppress(OSError):
        (folder / WORK).write_text(f"{seconds:.6f}", encoding="utf-8")


def read_work(folder: Path) -> float | None:
    """Return what `write_work` noted; None where the child did not come to that."""
    try:
        return float((folder / WORK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def is_out_of_memory(said: str) -> bool:
    """Say whether a message is of `out_of_memory`."""
    return said.startswith(_SHORT_OF_MEMORY)


def out_of_memory(said: str) -> str:
    """Say that memory ran out, and at which node where the engine named it."""
    found = _RUNNING.search(said)
    if found is None:
        return _SHORT_OF_MEMORY
    name = f" {found[2]!r}" if found[2] else ""
    return f"{_SHORT_OF_MEMORY} at {found[1]}{name}"


def read_answer(folder: Path, kind: type[T]) -> T:
    """Return the answer of a child.

    Raises:
        EngineFailed: It is an error of an engine.
        UsageError: The request names something that is not there.
        InvalidModel: A file is not a model.
        ChildFault: The child raised something else.
    """
    answer = unpacked((folder / ANSWER).read_text(encoding="utf-8"), _Answer)
    if answer.error is not None:
        error = answer.error
        if error.kind == _FAULT:
            fault = ChildFault(error.message)
            fault.add_note(error.trace)
            raise fault
        raise _KINDS.get(error.kind, EngineFailed)(
            error.message, where=error.where, hint=error.hint
        )
    return _of_kind(answer.value, kind)
