"""Forests that are measured: how they grow, and what their page says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import forests
from benchmarks.forests import KINDS, Row, forest, main, measured


@pytest.mark.parametrize("kind", KINDS)
def test_a_forest_is_repaired_and_held_to_what_it_was(kind: str) -> None:
    model = forest(kind, 3, 9)
    modes = next(a.strings for a in model.graph.node[0].attribute if a.name == "nodes_modes")
    assert list(modes).count(b"LEAF") == 27
    row = measured(kind, 3, 9, "trt8.6")
    assert (row.leaves, row.integers) == (27, 0)
    assert row.apart < forests.NEAR


def test_what_goes_beyond_a_bound_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = Row("regressor", 2, 20, 100, 250, 9, 0.1, 0.0, 0)

    def one(kind: str, trees: int, leaves: int, _: str) -> Row:
        own = replace(row, kind=kind, trees=trees, leaves=trees * leaves, after=trees * 20)
        return replace(own, after=301, integers=2) if kind == "classifier" else own

    monkeypatch.setattr(forests, "measured", one)
    page = tmp_path / "forests.md"
    assert main(["--trees", "2", "4", "--leaves", "10", "-o", str(page)]) == 1
    said = capsys.readouterr().out
    assert "classifier of 4 trees: 3.01 times the bytes" in said
    assert "classifier of 2 trees: 2 integers differ" in said
    assert "regressor" not in said
    assert "Not kept: classifier of 2 trees" in page.read_text(encoding="utf-8")
