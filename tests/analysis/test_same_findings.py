"""Tests that rules find the same whether answers are kept or found again each time."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import ModelProto

from benchmarks.fuzz.models import make_model
from benchmarks.speed.chains import CHAINS
from graphfix.analysis import memo
from graphfix.api import check
from graphfix.engines.engine import engines
from graphfix.ir.storage.reading import read_model
from graphfix.report import Finding

_TARGETS = [engine.names()[-1] for engine in engines() if engine.names()]
_OWN_WALKS = ("ncnn1.0", "qnn2", "rknn2.3", "tflite1.29", "trt8.6", "tvm0.27")
_ROOT = Path(__file__).parents[2]
_CORPUS = _ROOT.parent / "shared" / "corpus" / "open"
_SAMPLED = sorted(_CORPUS.rglob("*.onnx"))[11::151]
_FIXTURES = sorted((_ROOT / "fixtures").glob("*.onnx"))[::9]


def _none_about(part: object) -> dict[object, object]:
    return {}


def _same(model: ModelProto, target: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Finding, ...]:
    kept = check(model, target)
    with monkeypatch.context() as patched:
        patched.setattr(memo, "answers_about", _none_about)
        assert check(model, target) == kept
    return kept


@pytest.mark.parametrize("target", _TARGETS)
def test_of_chains_the_same_is_found_without_what_was_kept(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for make in CHAINS.values():
        _same(make(12), target, monkeypatch)


@pytest.mark.parametrize("seed", range(4))
def test_of_random_graphs_the_same_is_found_without_what_was_kept(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model(seed)[0]
    found = [_same(model, target, monkeypatch) for target in _OWN_WALKS]
    assert any(found)


@pytest.mark.parametrize("path", _FIXTURES, ids=lambda path: path.stem)
def test_of_fixtures_the_same_is_found_without_what_was_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for target in _OWN_WALKS:
        _same(read_model(path).proto, target, monkeypatch)


@pytest.mark.skipif(not _SAMPLED, reason=f"the corpus of real models is not at {_CORPUS}")
@pytest.mark.parametrize("path", _SAMPLED, ids=lambda path: path.stem)
def test_of_networks_the_same_is_found_without_what_was_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for target in _OWN_WALKS[:4]:
        _same(read_model(path).proto, target, monkeypatch)
