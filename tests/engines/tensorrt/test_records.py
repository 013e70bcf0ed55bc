"""Every check of the parser that the facts list is a rule, or is listed with a reason why not."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from graphfix.engines.known_rules import all_rules
from graphfix.engines.targets import load_target, target_names
from graphfix.engines.tensorrt import generate
from graphfix.engines.versions import unpacked

FACTS = Path(__file__).parents[4] / "shared" / "facts" / "trt"
RECORDS: dict[str, list[dict[str, Any]]] = tomllib.loads(
    (Path(__file__).parent / "records.toml").read_text()
)
KINDS = ("constraints", "constraints_5_7")


def facts(name: str) -> Any:
    """Return one file of the facts, or skip: they do not come with the project."""
    path = FACTS / f"{name}.json"
    if not path.exists():
        pytest.skip(f"{path} is not there; it does not come with the project")
    return json.loads(path.read_text())


@pytest.mark.parametrize("name", KINDS)
def test_every_record_is_judged(name: str) -> None:
    known = facts(name)["records"]
    assert len(RECORDS[name]) == len(known)
    for entry, record in zip(RECORDS[name], known, strict=True):
        assert record["op"].startswith(entry["op"])
        assert record["effect"] == entry["effect"]


@pytest.mark.parametrize("name", KINDS)
def test_what_judges_is_there(name: str) -> None:
    rules = {rule.id for rule in all_rules()}
    for entry in RECORDS[name]:
        assert ("rules" in entry) is not ("why_not" in entry), entry
        assert set(entry.get("rules", ())) <= rules, entry
        assert entry.get("rules") or len(entry["why_not"]) > 20, entry


@pytest.mark.parametrize("name", KINDS)
def test_what_is_misread_has_a_wrong_or_says_why_not(name: str) -> None:
    severities = {rule.id: str(rule.severity) for rule in all_rules()}
    for entry in RECORDS[name]:
        if entry["effect"] == "S" and "rules" in entry:
            assert "wrong" in {severities[rule] for rule in entry["rules"]} | _harsher(entry), entry


def _harsher(entry: dict[str, Any]) -> set[str]:
    # A form that is refused is no longer misread: some records say both of different versions.
    refused = {"resize-coordinates-7", "resize-axes"}
    return {"wrong"} if refused & set(entry["rules"]) else set()


# Releases under other names than those of their profiles.
_NOT_OPERATORS = {"FallbackPluginImporter", "LocalFunctionImporter"}
_PROFILES = {"6.0": "trt6", "6.0-full-dims": "trt6-fulldims", "7.2.1": "trt7.2"}


def test_every_row_of_the_operator_tables_is_in_its_profile() -> None:
    """What the parser imports and the table supports is supported in the profile, nothing else."""
    seen = 0
    store = json.loads((generate.FACTS / "operators.json").read_text())
    for release in store["names"]:
        table = unpacked(store, release)
        target = _PROFILES.get(release, f"trt{release}")
        if target not in target_names():
            continue  # a build between two releases
        profile = load_target(target)
        importers = table.get("registered_importers", ())
        rows = [op for op in table["ops"] if " " not in op]
        for op in rows:  # "experimental ATen" and its like are no operators
            known = profile.ops.get(op)
            assert known is not None, (target, op)
            if importers:  # only some releases were read as far as that
                assert known.supported is (op in importers), (target, op)
            else:
                assert known.supported is table["ops"][op]["supported"], (target, op)
            seen += 1
        for op in set(importers) - _NOT_OPERATORS:
            assert op in profile.ops, (target, op)
    assert seen > 3000
