"""What the onnxruntime installed here says of a file, where it is the engine that is meant."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from graphfix.authoring.views import NodeView
from graphfix.checking import file_findings
from graphfix.engines.onnxruntime.installed import installed_minor
from graphfix.errors import EngineFailed
from graphfix.model import Model
from graphfix.pipeline.settings import Settings
from graphfix.report import Finding
from graphfix.validity.complaint import Complaint
from graphfix.worker.limits import Limits
from graphfix.worker.opening import Opened, Opening
from graphfix.worker.service import Crashed, ask

TASK = "graphfix.worker.opening:answer"
REFUSED = "does-not-load"
NOT_OPENED = "not-opened"
_SECONDS = 120.0

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


def findings_of_loading(
    model: Model,
    file: AbstractContextManager[Path],
    settings: Settings,
    known: Sequence[Finding],
) -> tuple[Finding, ...]:
    """Ask the onnxruntime installed here to load a model, where the target is that version.

    Its refusal is a finding, unless one that blocks names the node already, or the file where
    onnxruntime names no node. A model with operators that are only assumed to be there is not
    asked about: they are not there.

    Args:
        model: The model, in which nodes are looked up.
        file: Gives it as a file.
        settings: What was asked for.
        known: What the rules found.
    """
    if not settings.installed or _assumes(model, settings):
        return ()
    complaint = _complaint(model, file, known)
    return () if complaint is None else file_findings((complaint,), settings.target)


def loaded_by(model: Model, settings: Settings, found: Sequence[Finding]) -> str:
    """Return the engine installed here that has loaded a model; empty where none was asked.

    Args:
        model: The model.
        settings: What was asked for.
        found: All findings of the model, those of loading included.
    """
    if not settings.installed or _assumes(model, settings):
        return ""
    if any(each.blocks or each.rule == NOT_OPENED for each in found):
        return ""
    return f"onnxruntime {'.'.join(map(str, installed_minor()))}"


def _assumes(model: Model, settings: Settings) -> bool:
    views = (NodeView(node) for node in model.nodes())
    return any(
        (view.domain, view.op) in settings.assumed or ("", view.op) in settings.assumed
        for view in views
    )


def _complaint(
    model: Model, file: AbstractContextManager[Path], known: Sequence[Finding]
) -> Complaint | None:
    name = "the onnxruntime that is installed here"
    try:
        opened = _asked(model, file)
        version, said = opened.version, opened.refusal
    except Crashed as crash:
        said = str(crash)
        return Complaint(REFUSED, f"{name} crashes when it loads the model", None, said)
    except EngineFailed as failure:
        return Complaint(NOT_OPENED, f"{name} could not be asked: {failure}", None)
    if not said:
        return None
    op, node_name = _blamed(said)
    if _is_told(said, op, node_name, known):
        return None
    view = _found(model, op, node_name)
    message = f"onnxruntime {version}, which is installed here, does not load the model"
    return Complaint(REFUSED, message, view, said)


def _asked(model: Model, file: AbstractContextManager[Path]) -> Opened:
    """Return the version of onnxruntime, and why it refuses a model.

    Raises:
        EngineFailed: It crashed, or ran out of memory or time.
    """
    with file as path, tempfile.TemporaryDirectory(prefix="graphfix-") as folder:
        data = model.base_dir or str(path.parent)
        request = Opening(path, data if model.has_external_data() else "")
        return ask(TASK, Path(folder), request, Limits(_SECONDS), Opened)


def _blamed(said: str) -> tuple[str, str]:
    """Return the operator and the name of the node in a message; empty where it has none."""
    for pattern in _NAMED:
        match = pattern.search(said)
        if match is not None:
            return match["op"], match["name"]
    return "", ""


def _is_told(said: str, op: str, name: str, known: Sequence[Finding]) -> bool:
    blocking = [finding for finding in known if finding.blocks]
    if any(f"output arg ({given})" in said for each in blocking for given in each.node.outputs):
        return True
    if not op and not name:
        return any(not finding.node.op for finding in blocking)
    return any(
        (not op or finding.node.op == op) and (not name or finding.node.name == name)
        for finding in blocking
    )


def _found(model: Model, op: str, name: str) -> NodeView | None:
    """Return the node that is meant: the one of that name, or the only one of an operator."""
    if not op and not name:
        return None
    fitting = [
        node
        for node in model.nodes()
        if (not op or node.op == op) and (not name or node.name == name)
    ]
    if not fitting or (not name and len(fitting) > 1):
        return None
    return NodeView(fitting[0])
