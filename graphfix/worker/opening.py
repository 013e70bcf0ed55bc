"""Open a model in onnxruntime and tell what it says; runs inside the child process."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from graphfix.worker.limits import Limits
from graphfix.worker.sessions import open_session

# What has no kernel may be folded or fused away; a user's session has its optimisations on.
_MAY_GO_AWAY = "NOT_IMPLEMENTED"


@dataclass(frozen=True, slots=True)
class Opening:
    """The file to open, and the folder of its external data."""

    model: Path
    folder: str


@dataclass(frozen=True, slots=True)
class Opened:
    """The version of onnxruntime, and why it refuses a model; empty where it does not."""

    version: str
    refusal: str


def answer(_: Path, request: Opening, __: Limits) -> Opened:
    """Open a model."""
    model, folder = request.model.read_bytes(), request.folder
    said = _refusal(model, folder, optimised=False)
    if _MAY_GO_AWAY in said:
        said = _refusal(model, folder, optimised=True)
    return Opened(str(import_module("onnxruntime").__version__), said)


def _refusal(model: bytes, folder: str, *, optimised: bool) -> str:
    try:
        open_session(model, optimised=optimised, folder=folder, mapped=True)
    except Exception as error:  # onnxruntime's have no common base
        if "bad_alloc" in str(error) or "bad allocation" in str(error):
            raise MemoryError from None
        return " ".join(str(error).split()) or type(error).__name__
    return ""
