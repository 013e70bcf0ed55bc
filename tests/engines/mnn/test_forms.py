"""The rules of MNN and what the engine made of each form that they are of (facts/forms.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import graphfix.engines.mnn
from benchmarks.engines.forms import model_of
from graphfix.api import check

FACTS = Path(graphfix.engines.mnn.__file__).parent / "facts" / "forms.json"
FORMS: list[dict[str, Any]] = json.loads(FACTS.read_text(encoding="utf-8"))
SEVERE = {"refused": {"reject", "builder"}, "crashed": {"reject", "builder"}, "wrong": {"wrong"}}


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form['verdict']}: {form['graph']}")
def test_what_is_found_is_what_the_engine_did(form: dict[str, Any]) -> None:
    model, _ = model_of(form)
    found = {one.severity.value for one in check(model, target="mnn3.6") if one.blocks}
    assert bool(found) == (form["verdict"] != "equal")
    assert not found or found & SEVERE[form["verdict"]]
