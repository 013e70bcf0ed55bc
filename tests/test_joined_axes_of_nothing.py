"""Axes that are joined into one keep a size of 0 after them."""

from __future__ import annotations

import pytest
from onnx import parser

import graphfix
from graphfix.report import Status, Verdict

REVERSED = """
    g (float[6, N, W] x, int64[N] n) => (float[6, N, W] y) { y = ReverseSequence (x, n) }
"""
TAKEN = "g (float[5, 4, W] x, int64[N, 2] i) => (float[N, W] y) { y = GatherND (x, i) }"


@pytest.mark.parametrize(
    ("text", "name"),
    [(REVERSED, "reverse-sequence-to-gather"), (TAKEN, "gathernd-to-gather")],
)
def test_a_row_without_elements_stays_one(text: str, name: str) -> None:
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}')
    result = graphfix.run(model, passes=[name])
    (outcome,) = result.report.outcomes
    assert outcome.status is Status.APPLIED, outcome.reason
    assert result.report.verification.status is Verdict.EQUAL
