"""What a child does: read the request of a folder, take its limits on, answer."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

from msgspec.structs import replace

from graphfix.errors import EngineFailed, GraphfixError
from graphfix.worker.limits import Limits, limited_memory, limited_time, limited_work
from graphfix.worker.messages import (
    Message,
    out_of_memory,
    write_answer,
    write_error,
    write_fault,
    write_work,
)

Task = Callable[[Path, Any, Limits], object]


def serve(folder: Path) -> None:
    """Answer the request in a folder; errors of ours and faults are answers too."""
    began = time.process_time()
    message = Message.read(folder)
    message.host.enter()
    _settle(folder)
    try:
        task = task_of(message.task)
        request = message.request_as(request_type(task))
        # Its libraries are mapped before the limit is counted from.
        import_module("onnxruntime")
        memory = message.limits.allowed()
        held = memory if message.limits.held else None
        with (
            limited_time(message.limits.timeout),
            limited_work(message.limits.work if message.limits.held else None),
            nullcontext() if held is None else limited_memory(held),
        ):
            write_answer(folder, task(folder, request, replace(message.limits, memory=memory)))
    except GraphfixError as error:
        write_error(folder, error)
    except MemoryError as error:
        write_error(folder, EngineFailed(out_of_memory(str(error))))
    except OSError as error:  # of the machine: no room for a file, say
        write_error(folder, EngineFailed(error.strerror or str(error), where=_named(error)))
    except RecursionError:
        write_error(folder, EngineFailed("the model is nested too deeply"))
    except Exception as error:
        write_fault(folder, error)
    finally:
        write_work(folder, time.process_time() - began)


def _named(error: OSError) -> str:
    return os.path.basename(os.fsdecode(error.filename)) if error.filename else ""


@cache  # the template asks first, so that its children need not
def request_type(task: Task) -> Any:
    """Return what a task takes as its request: the annotation of its second parameter."""
    return tuple(get_type_hints(task).values())[1]


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
