"""The table of bumps: complete, consistent, and as generated."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import onnx
import pytest

from graphfix.ir.schemas import form_of
from graphfix.opset.adapting import adapters
from graphfix.opset.generate_bumps import bumps_text, is_plain
from graphfix.opset.verdicts import verdict_of, verdicts

FACTS = Path(__file__).parents[3] / "shared" / "facts" / "opset" / "bumps.json"


def test_verdicts_are_about_neighbouring_schemas() -> None:
    for op, older, newer in verdicts():
        below = form_of(op, newer - 1)
        above = form_of(op, newer)
        assert below is not None
        assert above is not None
        assert (below.since, above.since) == (older, newer), op


def test_bounds_name_attributes_of_the_forms() -> None:
    for (op, older, newer), verdict in verdicts().items():
        names: set[str] = set(onnx.defs.get_schema(op, older, "").attributes)
        names |= set(onnx.defs.get_schema(op, newer, "").attributes)
        assert verdict.neutral.keys() <= names, op
        assert verdict.allow.keys() <= names, op


def test_where_the_newer_form_takes_more_only_the_way_up_is_free() -> None:
    upwards = [key for key, verdict in verdicts().items() if verdict.upwards]
    assert len(upwards) > 30
    for op, older, newer in upwards:
        assert verdict_of(op, older, newer) is not None
        assert verdict_of(op, newer, older) is None


def test_nothing_is_both_generated_and_reviewed() -> None:
    reviewed = {key for key, verdict in verdicts().items() if verdict.reason}
    assert len(reviewed) > 70
    generated = (files("graphfix.opset") / "bumps.toml").read_text(encoding="utf-8")
    for op, older, newer in reviewed:
        assert f'"{op} {older} {newer}"' not in generated


def test_the_numbers_that_differ_are_not_marked_same() -> None:
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        assert verdict_of(op, 11, 13) is None
    assert verdict_of("GridSample", 16, 20) is None
    assert verdict_of("Resize", 10, 11) is None
    assert verdict_of("GroupNormalization", 18, 21) is None


def test_adapters_are_one_step_wide_and_at_a_bump() -> None:
    # Below 18 the checker rejects it, though the schema did not change.
    rejected_below = {("MeanVarianceNormalization", 18, 17)}
    for op, source, target in adapters().keys() - rejected_below:
        older, newer = form_of(op, min(source, target)), form_of(op, max(source, target))
        assert newer is not None, op
        assert older is None or older.since != newer.since, (op, source, target)


def test_the_generated_table_is_what_the_facts_give() -> None:
    if not FACTS.is_file():
        pytest.skip("the facts that the table is made from are not here")
    bumps = json.loads(FACTS.read_text(encoding="utf-8"))
    written = (files("graphfix.opset") / "bumps.toml").read_text(encoding="utf-8")
    assert written == bumps_text(bumps)


def test_only_plain_bumps_are_generated() -> None:
    plain: dict[str, Any] = {
        "form_fits_below": True,
        "suspicious": False,
        "attributes_removed_going_down": [],
        "attributes_new_going_down": [],
        "defaults_differ": {},
    }
    assert is_plain(plain)
    assert not is_plain({**plain, "suspicious": True})
    assert not is_plain({**plain, "form_fits_below": False})
    assert not is_plain({**plain, "attributes_removed_going_down": ["axes"]})
    assert not is_plain({**plain, "attributes_new_going_down": ["axes"]})
    assert not is_plain({**plain, "defaults_differ": {"axis": ["1", "-1"]}})
