"""What rules say is what tract itself said of each graph that it was asked about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import graphfix.engines.tract
from tests.engines.cases import check, model_of

FACTS = Path(graphfix.engines.tract.__file__).parent / "facts" / "asked.json"
ASKED: dict[str, dict[str, dict[str, str]]] = json.loads(FACTS.read_text(encoding="utf-8"))
SEVERITIES = {"equal": set[str](), "wrong": {"wrong"}, "refused": {"reject"}}


@pytest.mark.parametrize("subject", sorted(ASKED))
def test_rules_say_what_it_said(subject: str) -> None:
    said = [(int(o), text, v) for o, known in ASKED[subject].items() for text, v in known.items()]
    assert said
    other: list[tuple[int, str, str, list[str]]] = []
    for opset, text, verdict in said:
        found = check(model_of(text, opset), "tract0.23")
        sure = {str(finding.severity) for finding in found if finding.certain} - {"note"}
        doubted = {str(finding.severity) for finding in found if not finding.certain}
        # What depends on the numbers that are fed, or on axes that tract drops, is doubted alone.
        if sure != SEVERITIES[verdict] and not (doubted == {"wrong"} and not sure):
            other.append((opset, text, verdict, [finding.rule for finding in found]))
    assert other == []


def test_what_is_doubted_is_found_where_it_is_wrong() -> None:
    for subject in ("quantized-quotient", "bytes-moved-and-back"):
        for text, verdict in ASKED[subject]["17"].items():
            found = {f.rule for f in check(model_of(text, 17), "tract0.23")}
            assert verdict != "wrong" or found & {"quantized-quotient", "table-of-softmax"}, text
