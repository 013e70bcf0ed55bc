"""What the committed results say that targets take, and what lies next to the families."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import taken as module
from benchmarks.engines.page import table
from benchmarks.engines.rows import FORMS, Row
from benchmarks.taken import taken
from graphfix.engines.engine import engines
from graphfix.engines.interface import Taken


def test_the_families_hold_what_the_results_say() -> None:
    found = taken()
    assert found["trt8.6"].source == "benchmarks/results/corpus-trt8.md"
    assert found["trt8.6"].models >= found["trt8.6"].after > (found["trt8.6"].before or 0)
    assert found["ort-1.8"].run
    held = {name: each for engine in engines() for name, each in engine.corpus.items()}
    assert {name: held.get(name) for name in found} == found


def test_a_page_on_a_real_engine_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forms = dict.fromkeys(FORMS, "equal")
    other = {**forms, FORMS[0]: "refused"}
    page = table("tvm0.27", [Row("a", forms), Row("b", other), Row("c", other), Row("d", {})])
    (tmp_path / "engines-tvm0.27.md").write_text(page, encoding="utf-8")
    (tmp_path / "old-runtimes.md").write_text("", encoding="utf-8")
    monkeypatch.setattr(module, "RESULTS", tmp_path)
    source = "benchmarks/results/engines-tvm0.27.md"
    assert taken() == {"tvm0.27": Taken(3, 1, 3, run=True, source=source)}
