"""Open a model in onnxruntime and tell what it says; runs inside the child process."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from graphfix.worker.sessions import open_session

# What has no kernel may be folded or fused away; a user's session has its optimisations on.
_MAY_GO_AWAY = "NOT_IMPLEMENTED"


def answer(_: Path, request: dict[str, Any]) -> dict[str, Any]:
    """Return the version of onnxruntime and why it refuses a model; empty where it does not.

    Args:
        _: The folder of the request, which is not needed.
        request: ``model``: the file; ``folder``: where its external data lies.
    """
    model, folder = Path(request["model"]).read_bytes(), str(request["folder"])
    said = _refusal(model, folder, optimised=False)
    if _MAY_GO_AWAY in said:
        said = _refusal(model, folder, optimised=True)
    return {"version": str(import_module("onnxruntime").__version__), "refusal": said}


def _refusal(model: bytes, folder: str, *, optimised: bool) -> str:
    try:
        open_session(model, optimised=optimised, folder=folder, mapped=True)
    except Exception as error:  # onnxruntime's have no common base
        if "bad_alloc" in str(error) or "bad allocation" in str(error):
            raise MemoryError from None
        return " ".join(str(error).split()) or type(error).__name__
    return ""
