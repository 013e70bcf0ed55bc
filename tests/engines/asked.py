"""What rules say of graphs that an engine was asked about, next to what it said itself."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

from tests.engines.cases import check, model_of

Known = dict[str, dict[str, dict[str, str]]]
_REFUSED = {"reject", "builder"}
# Severities of which one at least is found, and of which none is.
_FOUND = {"wrong": {"wrong"}, "refused": _REFUSED, "crashed": {*_REFUSED, "wrong"}}
_NONE = {"equal": {*_REFUSED, "wrong"}, "wrong": _REFUSED}


def facts_of(family: ModuleType) -> Known:
    """Return subject -> opset -> graph -> verdict, as `benchmarks.engines.asked` has written it."""
    assert family.__file__ is not None
    path = Path(family.__file__).parent / "facts" / "asked.json"
    found: Known = json.loads(path.read_text(encoding="utf-8"))
    return found


def disagreements(known: dict[str, dict[str, str]], target: str) -> list[tuple[str, ...]]:
    """Return opset, graph, verdict and rules of each graph of which the rules say something else.

    Args:
        known: Opset -> graph -> verdict.
        target: The engine.
    """
    assert any(known.values())
    other: list[tuple[str, ...]] = []
    for opset, graphs in known.items():
        for text, verdict in graphs.items():
            found = check(model_of(text, int(opset)), target)
            severities = {str(finding.severity) for finding in found}
            reported = not _FOUND.get(verdict) or severities & _FOUND[verdict]
            if not reported or severities & _NONE.get(verdict, set[str]()):
                other.append((opset, text, verdict, *(finding.rule for finding in found)))
    return other
