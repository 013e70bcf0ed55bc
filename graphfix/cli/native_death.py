"""The node that brings native code down: found by trying, each time in a process of its own.

onnx's inference and checker are C++ and look at a whole model; where they end the process they say
nothing. A model that is cut off after a node either ends them too, or does not.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import ModelProto

SECONDS = 5.0
_ONE_TRY = 2.0


def deadly_node(path: str) -> str:
    """Return the first node up to which a model ends a process that reads it; empty if none.

    Args:
        path: The file that a process died of.
    """
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        _answer(lambda: os.write(write, _found(path).encode("utf-8", "replace")[:400]))
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        ready, _, _ = select.select([answer], [], [], SECONDS)
        if not ready:
            os.kill(pid, signal.SIGKILL)
        said = answer.read().decode("utf-8", "replace") if ready else ""
    os.waitpid(pid, 0)
    return said


def _answer(work: Callable[[], object]) -> None:
    try:
        work()
    finally:
        os._exit(0)


def _found(path: str) -> str:
    from graphfix.ir.protos import called, copied
    from graphfix.ir.storage.reading import read_model

    model = read_model(Path(path)).proto
    nodes = model.graph.node

    def deadly(count: int) -> bool:
        cut = copied(model)
        del cut.graph.node[count:]
        del cut.graph.output[:]
        return _dies(lambda: _interpret(cut))

    if not deadly(len(nodes)):
        return ""
    lives, dies = 0, len(nodes)
    while dies - lives > 1:
        middle = (lives + dies) // 2
        lives, dies = (lives, middle) if deadly(middle) else (middle, dies)
    node = nodes[dies - 1]
    return f"{called(node.op_type, node.name, node.output)} (node {dies - 1})"


def _interpret(model: ModelProto) -> None:
    from onnx import checker

    from graphfix.analysis import shape_inference

    try:
        shape_inference.infer_shapes(model, data_prop=True)
    finally:
        checker.check_model(model)  # pyright: ignore[reportUnknownMemberType]


def _dies(work: Callable[[], object]) -> bool:
    """Say whether a signal ends a process that does something; one that is late is no witness."""
    pid = os.fork()
    if pid == 0:
        _answer(work)
    until = time.monotonic() + _ONE_TRY
    while time.monotonic() < until:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.WIFSIGNALED(status)
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return False
