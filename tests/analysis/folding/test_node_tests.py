"""A part of the sweep over onnx's node tests that `benchmarks/folding.py` makes in full."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from benchmarks import folding
from tests.node_tests import node_tests

LIMIT = 40
PATTERN = "test_[su][lpn][ils]*"


def load(*, kind: str) -> list[Any]:
    assert kind == "node"
    return node_tests()


def test_folded_node_tests_give_what_they_expect(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = import_module("graphfix.passes.canonical.fold_constants")
    monkeypatch.setattr(module, "run_constants", module.run_constants)  # the sweep replaces it
    monkeypatch.setattr(folding, "load_model_tests", load)
    rows = folding.sweep(PATTERN, LIMIT)
    assert len(rows) == 2 * LIMIT
    assert [row for row in rows if row.status in folding.BAD] == []
    assert sum(row.status == "equal" for row in rows) >= 2 * LIMIT - 4
    assert sum(row.folded for row in rows if row.variant == "all") >= 25
