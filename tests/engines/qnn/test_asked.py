"""What rules say is what QNN itself said of each graph that it was asked about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import graphfix.engines.qnn
from tests.engines.cases import check, model_of

FACTS = Path(graphfix.engines.qnn.__file__).parent / "facts" / "asked.json"
ASKED: dict[str, dict[str, dict[str, str]]] = json.loads(FACTS.read_text(encoding="utf-8"))
REFUSED = {"reject", "builder"}
# Severities of which one at least is found, and of which none is. What is wrong by the numbers
# that are fed, below 0, is a note; what ends the process reads beyond a tensor, in some runs.
FOUND = {
    "wrong": {"wrong", "note"},
    "refused": REFUSED,
    "crashed": {*REFUSED, "wrong"},
}
NONE = {"equal": {*REFUSED, "wrong"}, "wrong": REFUSED}


@pytest.mark.parametrize("subject", sorted(ASKED))
def test_rules_say_what_it_said(subject: str) -> None:
    said = [(int(o), text, v) for o, known in ASKED[subject].items() for text, v in known.items()]
    assert said
    other: list[tuple[int, str, str, list[str]]] = []
    for opset, text, verdict in said:
        found = check(model_of(text, opset), "qnn2")
        severities = {str(finding.severity) for finding in found}
        reported = not FOUND.get(verdict) or severities & FOUND[verdict]
        sure = {str(finding.severity) for finding in found if finding.certain}
        if not reported or sure & NONE.get(verdict, set[str]()):
            other.append((opset, text, verdict, [finding.rule for finding in found]))
    assert other == []
