"""What rules say is what OpenVINO itself said of each graph that it was asked about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import graphfix.engines.openvino
from benchmarks.engines.asked import model_of
from graphfix.analysis.inference import infer_model
from graphfix.engines.checking import check_model
from graphfix.engines.targets import load_target
from graphfix.ir.model import Model

FACTS = Path(graphfix.engines.openvino.__file__).parent / "facts" / "asked.json"
ASKED: dict[str, dict[str, dict[str, str]]] = json.loads(FACTS.read_text(encoding="utf-8"))
SEVERITIES = {"equal": set[str](), "wrong": {"wrong"}, "refused": {"reject"}}


@pytest.mark.parametrize("subject", sorted(ASKED))
def test_rules_say_what_it_said(subject: str) -> None:
    said = [(int(o), text, v) for o, known in ASKED[subject].items() for text, v in known.items()]
    assert said
    other: list[tuple[int, str, str, list[str]]] = []
    for opset, text, verdict in said:
        model = Model(model_of(text, opset))
        infer_model(model)
        found = list(check_model(model, load_target("openvino2026.4")))
        sure = {str(finding.severity) for finding in found if finding.certain} - {"note"}
        doubted = {str(finding.severity) for finding in found if not finding.certain}
        # Whether a product is computed with what is before it was not found out.
        if sure != SEVERITIES[verdict] and not (doubted == {"wrong"} and not sure):
            other.append((opset, text, verdict, [finding.rule for finding in found]))
    assert other == []


def test_scans_are_doubted_where_they_are_wrong() -> None:
    said = [
        (text, verdict)
        for subject in ("quantized-product-in-a-scan", "quantized-product-in-a-loop")
        for text, verdict in ASKED[subject]["17"].items()
    ]
    assert [verdict for _, verdict in said].count("wrong") == 3
    for text, _ in said:
        model = Model(model_of(text, 17))
        infer_model(model)
        found = check_model(model, load_target("openvino2026.4"))
        assert "quantized-product-in-a-body" in {f.rule for f in found}
