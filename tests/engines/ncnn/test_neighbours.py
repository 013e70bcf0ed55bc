"""What check says of the graphs that ncnn was asked about is what ncnn made of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

import graphfix
from benchmarks.engines.kernels import facts_of
from benchmarks.engines.neighbours import model_of
from graphfix.report import Severity

NAME = "ncnn1.0"
ROWS: list[dict[str, Any]] = json.loads(
    facts_of(NAME, "neighbours.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["graph"][:60])
def test_check_says_what_ncnn_does(row: dict[str, Any]) -> None:
    found = graphfix.check(model_of(row), NAME)
    blocks = [f for f in found if f.severity in (Severity.REJECT, Severity.WRONG)]
    rejects = [f.feature for f in blocks if f.severity is Severity.REJECT]
    sure = [f.feature for f in blocks if f.certain]  # others depend on the numbers that are drawn
    assert bool(blocks) >= (row["verdict"] != "equal") >= bool(sure), blocks
    if row["verdict"] in ("refused", "crashed"):
        assert rejects, blocks
