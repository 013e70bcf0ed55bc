"""Repair exported ONNX files for a deployment target, with proof.

The public names are loaded when they are first used, so that `import graphfix` stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from graphfix._version import __version__ as __version__

if TYPE_CHECKING:
    from graphfix.api import check, explain, run
    from graphfix.authoring.declaring import Unknown, graph_pass, rewrite
    from graphfix.authoring.refusing import Refuse
    from graphfix.edits.by_script import edit
    from graphfix.errors import GraphfixError, InvalidModel, PassBug, UsageError
    from graphfix.model import Model
    from graphfix.pipeline.bisecting import bisect_run
    from graphfix.pipeline.model_files import load, save
    from graphfix.pipeline.results import Result
    from graphfix.pipeline.two_models import bisect, compare, diff
    from graphfix.reducing.engine import reduce
    from graphfix.registry import get_pass
    from graphfix.report import APPROXIMATE, EXACT, LOSSY, Certificate, Finding, Report
    from graphfix.reproducers.replay import replay
    from graphfix.surgeon import from_graphsurgeon, to_graphsurgeon

_HOMES = {
    "Model": "graphfix.model",
    "load": "graphfix.pipeline.model_files",
    "save": "graphfix.pipeline.model_files",
    "run": "graphfix.api",
    "check": "graphfix.api",
    "explain": "graphfix.api",
    "bisect": "graphfix.pipeline.two_models",
    "bisect_run": "graphfix.pipeline.bisecting",
    "compare": "graphfix.pipeline.two_models",
    "diff": "graphfix.pipeline.two_models",
    "edit": "graphfix.edits.by_script",
    "reduce": "graphfix.reducing.engine",
    "get_pass": "graphfix.registry",
    "replay": "graphfix.reproducers.replay",
    "to_graphsurgeon": "graphfix.surgeon",
    "from_graphsurgeon": "graphfix.surgeon",
    "rewrite": "graphfix.authoring.declaring",
    "graph_pass": "graphfix.authoring.declaring",
    "Unknown": "graphfix.authoring.declaring",
    "Refuse": "graphfix.authoring.refusing",
    "EXACT": "graphfix.report",
    "APPROXIMATE": "graphfix.report",
    "LOSSY": "graphfix.report",
    "Certificate": "graphfix.report",
    "Finding": "graphfix.report",
    "Report": "graphfix.report",
    "Result": "graphfix.pipeline.results",
    "GraphfixError": "graphfix.errors",
    "InvalidModel": "graphfix.errors",
    "UsageError": "graphfix.errors",
    "PassBug": "graphfix.errors",
}

__all__ = [
    "APPROXIMATE",
    "EXACT",
    "LOSSY",
    "Certificate",
    "Finding",
    "GraphfixError",
    "InvalidModel",
    "Model",
    "PassBug",
    "Refuse",
    "Report",
    "Result",
    "Unknown",
    "UsageError",
    "bisect",
    "bisect_run",
    "check",
    "compare",
    "diff",
    "edit",
    "explain",
    "from_graphsurgeon",
    "get_pass",
    "graph_pass",
    "load",
    "reduce",
    "replay",
    "rewrite",
    "run",
    "save",
    "to_graphsurgeon",
]


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'graphfix' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    """List the public names."""
    return [*__all__, "__version__"]
