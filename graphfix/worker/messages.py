"""The files of a request: what the host writes for a child, and what the child answers."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from graphfix.errors import EngineFailed, GraphfixError, InvalidModel, UsageError
from graphfix.worker.limits import Limits

REQUEST = "request.json"
ANSWER = "answer.json"
STDERR = "stderr.txt"

_KINDS: dict[str, type[GraphfixError]] = {"usage": UsageError, "invalid": InvalidModel}


@dataclass(frozen=True, slots=True)
class Host:
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
        if dict(os.environ) != self.environment:
            os.environ.clear()
            os.environ.update(self.environment)
        sys.path[:] = self.path


@dataclass(frozen=True, slots=True)
class Message:
    """A request as it is written.

    Attributes:
        task: ``module:function``; it gets the folder and the request.
        request: What can be written as JSON.
        limits: What the child may take.
        host: See `Host`.
    """

    task: str
    request: dict[str, Any]
    limits: Limits
    host: Host

    def write(self, folder: Path) -> None:
        """Write it into the folder of the request."""
        (folder / REQUEST).write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Message:
        """Read what `write` wrote."""
        told = json.loads((folder / REQUEST).read_text(encoding="utf-8"))
        return cls(told["task"], told["request"], Limits(**told["limits"]), Host(**told["host"]))


def error_of(error: GraphfixError) -> dict[str, Any]:
    """Return an error of ours as an answer."""
    found = (name for name, kind in _KINDS.items() if isinstance(error, kind))
    message = "ran out of memory" if "bad_alloc" in error.message else error.message
    told = {"kind": next(found, "engine"), "message": message}
    return {"error": {**told, "where": error.where, "hint": error.hint}}


def read_answer(folder: Path) -> dict[str, Any]:
    """Return the answer of a child.

    Raises:
        EngineFailed: It is an error of an engine.
        UsageError: The request names something that is not there.
        InvalidModel: A file is not a model.
    """
    answer: dict[str, Any] = json.loads((folder / ANSWER).read_text(encoding="utf-8"))
    error = answer.get("error")
    if error is not None:
        kind = _KINDS.get(error["kind"], EngineFailed)
        raise kind(error["message"], where=error["where"], hint=error["hint"])
    return answer
