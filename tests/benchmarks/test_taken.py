"""What the committed results say that targets take, and what lies beside the families."""

from __future__ import annotations

from benchmarks.taken import taken
from graphfix.engines.engine import engines


def test_the_families_hold_what_the_results_say() -> None:
    found = taken()
    assert found["trt8.6"].source == "benchmarks/results/corpus-trt8.md"
    assert found["trt8.6"].models >= found["trt8.6"].after > (found["trt8.6"].before or 0)
    assert found["ort-1.8"].run
    held = {name: each for engine in engines() for name, each in engine.corpus.items()}
    assert {name: held.get(name) for name in found} == found
