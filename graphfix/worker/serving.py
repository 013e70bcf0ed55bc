"""What a child does: read the request of a folder, take its limits on, answer."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from graphfix.errors import EngineFailed, GraphfixError
from graphfix.worker.limits import limit_memory
from graphfix.worker.messages import ANSWER, Message, error_of

Task = Callable[[Path, dict[str, Any]], dict[str, Any]]


def serve(folder: Path) -> None:
    """Answer the request in a folder; errors of ours are answers too.

    The task finds in its request what it may take: ``timeout``, the seconds, and
    ``memory_limit``, the bytes, or None where nobody says.
    """
    message = Message.read(folder)
    message.host.enter()
    _settle(folder)
    task = task_of(message.task)
    # Its libraries are mapped before the limit is counted from.
    import_module("onnxruntime")
    memory = message.limits.allowed()
    if memory is not None and message.limits.held:
        limit_memory(memory)
    request = {**message.request, "timeout": message.limits.timeout, "memory_limit": memory}
    try:
        answer = task(folder, request)
    except GraphfixError as error:
        answer = error_of(error)
    except MemoryError:
        answer = error_of(EngineFailed("ran out of memory"))
    (folder / ANSWER).write_text(json.dumps(answer), encoding="utf-8")


def _settle(folder: Path) -> None:
    """Have temporary files go with the request, and libraries keep to themselves what they do.

    The host removes the folder, also where a signal ends this process before it has tidied up.
    Recent versions of onnxruntime report what it runs, by way of a database in the home folder and
    a file ``.ses`` among the temporary ones; a user who sets the variable decides.
    """
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


def task_of(name: str) -> Task:
    """Import what ``module:function`` names."""
    module, _, function = name.partition(":")
    task: Task = getattr(import_module(module), function)
    return task
