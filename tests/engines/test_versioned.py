"""Tables of many versions in one file."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graphfix.engines.versions import packed, unpacked, written
from graphfix.errors import PassBug

TABLES: dict[str, dict[str, Any]] = {
    "one1": {"title": "One 1", "flag": False, "names": ["b", "d"], "ops": {"Add": {"yes": True}}},
    "one2": {"title": "One 2", "flag": False, "names": ["a", "b"], "ops": {"Add": {"yes": True}}},
    "one3": {"title": "One 3", "flag": True, "ops": {"Abs": {"yes": True}, "Add": {"yes": False}}},
    "one4": {"title": "One 4", "flag": True, "names": ["b"], "ops": {"Abs": {"yes": True}}},
}


def test_every_version_comes_back_as_it_was() -> None:
    store = json.loads(written(packed(TABLES)))
    assert {name: unpacked(store, name) for name in store["names"]} == TABLES


def test_only_what_changes_is_written() -> None:
    store = packed(TABLES)
    assert store["fields"]["flag"] == {"one1": False, "one3": True}
    assert store["members"]["names"] == {
        "a": ["one2", "one3"],
        "b": ["one1", "one3", "one4"],
        "d": ["one1", "one2"],
    }
    assert store["entries"]["ops"]["Add"] == {
        "one1": {"yes": True},
        "one3": {"yes": False},
        "one4": None,
    }


def test_texts_whose_order_changes_are_kept_as_lists() -> None:
    tables = {"one1": {"names": ["a", "b"]}, "one2": {"names": ["b", "a"]}}
    store = packed(tables)
    assert store["fields"]["names"] == {"one1": ["a", "b"], "one2": ["b", "a"]}
    assert unpacked(store, "one2") == tables["one2"]


@pytest.mark.parametrize("rows", [{}, {"b": 1, "a": 2, "c": 0}])
def test_a_table_that_would_not_come_back_is_refused(rows: dict[str, int]) -> None:
    with pytest.raises(PassBug, match="the table of one2 does not come back as it is"):
        packed({"one1": {"ops": {"a": 1, "c": 2, "b": 3}}, "one2": {"ops": rows}})
