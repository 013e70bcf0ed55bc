"""Repair exported ONNX files for a deployment target, with proof.

The public names are loaded when they are first used, so that `import graphfix` stays cheap.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from graphfix.ir.version import __version__ as __version__

if TYPE_CHECKING:
    from graphfix.api import check, explain, run
    from graphfix.authoring.declaring import Unknown, graph_pass, rewrite
    from graphfix.authoring.registry import get_pass
    from graphfix.bisection.bisecting import bisect_run
    from graphfix.edits.by_script import edit
    from graphfix.errors import GraphfixError, InvalidModel, PassBug, UsageError
    from graphfix.ir.model import Model
    from graphfix.ir.surgeon import from_graphsurgeon, to_graphsurgeon
    from graphfix.ir.views import Refuse
    from graphfix.pipeline.model_files import load, save
    from graphfix.pipeline.reproducers.replay import replay
    from graphfix.pipeline.results import Result
    from graphfix.pipeline.two_models import bisect, compare, diff
    from graphfix.reduction.engine import reduce
    from graphfix.report import (
        APPROXIMATE,
        EXACT,
        LOSSY,
        MENDED,
        Certificate,
        Finding,
        Report,
    )

# Module -> the names that it has.
_NAMES = {
    "graphfix.ir.model": "Model",
    "graphfix.pipeline.model_files": "load save",
    "graphfix.api": "run check explain",
    "graphfix.pipeline.two_models": "bisect compare diff",
    "graphfix.bisection.bisecting": "bisect_run",
    "graphfix.edits.by_script": "edit",
    "graphfix.reduction.engine": "reduce",
    "graphfix.authoring.registry": "get_pass",
    "graphfix.pipeline.reproducers.replay": "replay",
    "graphfix.ir.surgeon": "to_graphsurgeon from_graphsurgeon",
    "graphfix.authoring.declaring": "rewrite graph_pass Unknown",
    "graphfix.ir.views": "Refuse",
    "graphfix.report": "EXACT APPROXIMATE LOSSY MENDED Certificate Finding Report",
    "graphfix.pipeline.results": "Result",
    "graphfix.errors": "GraphfixError InvalidModel UsageError PassBug",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "APPROXIMATE",
    "EXACT",
    "LOSSY",
    "MENDED",
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


if "IPython" in sys.modules:  # results show themselves in a notebook
    import_module("graphfix.rendering.notebook").register()
