"""No run leaves more findings of a severity than it found, against the inlined model.

The whole corpus is `benchmarks/corpus/never_worse.py`'s; here some of it, and the fixtures.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from onnx import ModelProto

from graphfix.api import check, run
from graphfix.report import Finding

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT.parent / "shared" / "corpus" / "open"
FIXTURES = sorted((ROOT / "fixtures").rglob("*.onnx"))
SAMPLED = sorted(CORPUS.rglob("*.onnx"))[7::60]
TARGETS = ("trt6", "trt7.0", "trt8.2", "trt8.6", "trt10.1", "trt11.1")


def counted(findings: tuple[Finding, ...]) -> Counter[str]:
    return Counter(str(finding.severity) for finding in findings if finding.blocks)


@cache
def inlined(path: Path) -> ModelProto:
    """Return a model without functions, the same for every target."""
    return run(path, passes=["inline-functions"], verify="off").model.to_proto()


def check_model(path: Path, target: str) -> None:
    before = counted(check(inlined(path), target))
    after = counted(run(path, target, verify="off").report.findings_after)
    assert {s: n for s, n in after.items() if n > before[s]} == {}, (before, after)


@pytest.mark.parametrize("target", TARGETS[1::2])
@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_fixtures(path: Path, target: str) -> None:
    check_model(path, target)


@pytest.mark.parametrize("target", TARGETS)
def test_a_sample_of_the_corpus(target: str) -> None:
    if not SAMPLED:
        pytest.skip("the corpus is not there; it lies next to the repository, not in it")
    for path in SAMPLED:
        check_model(path, target)
