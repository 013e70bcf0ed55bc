"""Load a model in the onnxruntime that is installed here, and tell what it says."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from graphfix.engines.interface import Loaded
from graphfix.worker.sessions import open_session

# What has no kernel may be folded or fused away; a user's session has its optimisations on.
_MAY_GO_AWAY = "NOT_IMPLEMENTED"


# How onnxruntime's messages name an operator and its node; each has the groups op and name.
_NAMED = tuple(
    re.compile(text)
    for text in (
        r"of operator \((?P<op>[^)]*)\) in node \((?P<name>[^)]*)\)",
        r"Node \((?P<name>[^)]*)\) Op \((?P<op>[^)]*)\)",
        r"In Node, \(\"(?P<name>[^\"]*)\", (?P<op>[^,]*),",
        r"implementation for (?P<op>\w+)\(\d+\) node with name '(?P<name>[^']*)'",
        r"\(op_type:(?P<op>\w+), node name: (?P<name>[^)]*)\)",
        r"Fatal error: (?:[^\s:]*:)?(?P<op>\w+)(?:\(-?\d+\))? is not a registered(?P<name>)",
        r"two nodes with same node name \((?P<name>.*?)\)\.(?P<op>)",
    )
)


def load(model: Path, folder: str) -> Loaded:
    """Load a model; see `graphfix.engines.engine.Engine.load`."""
    data = model.read_bytes()
    said = _refusal(data, folder, optimised=False)
    if _MAY_GO_AWAY in said:
        said = _refusal(data, folder, optimised=True)
    return Loaded(str(import_module("onnxruntime").__version__), said)


def _refusal(model: bytes, folder: str, *, optimised: bool) -> str:
    try:
        open_session(model, optimised=optimised, folder=folder, mapped=True)
    except Exception as error:  # onnxruntime's have no common base
        if "bad_alloc" in str(error) or "bad allocation" in str(error):
            raise MemoryError from None
        return " ".join(str(error).split()) or type(error).__name__
    return ""


def blamed(said: str) -> tuple[str, str]:
    """Return the operator and the name of the node in a message; empty where it has none."""
    for pattern in _NAMED:
        match = pattern.search(said)
        if match is not None:
            return match["op"], match["name"]
    return "", ""
