"""What is made of the facts: profiles, and pages of the profiles."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from graphfix.engines.targets import load_target
from graphfix.engines.tensorrt import generate
from graphfix.engines.tensorrt.wording import reworded
from graphfix.engines.versions import unpacked
from graphfix.rendering import target_pages

FACTS = generate.FACTS / "operators.json"


def facts() -> dict[str, dict[str, Any]]:
    store = json.loads(FACTS.read_text())
    return {version: unpacked(store, version) for version in store["names"]}


def test_every_operator_of_the_tables_is_carried_over() -> None:
    known = facts()
    since = list(known).index("8.0")  # the names of entries are those of profiles from there on
    assert len(known) - since == 21
    for version, entry in list(known.items())[since:]:
        target = load_target(f"trt{version}")
        assert target.opset_max == entry["max_opset"]
        assert set(entry["ops"]) <= set(target.ops)
        registered = entry.get("registered_importers")
        for op, row in entry["ops"].items():
            wanted = row["supported"] if registered is None else op in registered
            assert target.ops[op].supported == wanted, (version, op)
            if wanted:
                assert len(target.ops[op].dtypes or ()) == len(row.get("dtypes", ())), (version, op)


def test_later_builds_of_7_2_take_all_that_7_2_1_takes() -> None:
    known = facts()
    first = set(known["7.2.1"]["registered_importers"])
    for later in ("21.02", "21.03", "7.2-head"):
        assert first <= set(known[later]["registered_importers"])


def test_a_page_says_what_its_profile_says() -> None:
    text = target_pages.page(load_target("trt8.5"))
    assert text.startswith("# trt8.5: TensorRT 8.5\n")
    assert "- Releases: jetpack5.1, jetpack5.1.4, ngc22.12, ngc23.01\n" in text
    assert "| Mod | float16, float32, int32 |  | trt8.5 |\n" in text


def test_a_restriction_without_wording_is_refused() -> None:
    assert reworded("`axes` must be an initializer") == "constant: axes"
    assert reworded("2D or 3D convolutions only\\. Weights `W` must be an initailizer") == (
        "2 or 3 spatial dimensions only; constant: W"
    )
    with pytest.raises(ValueError, match="no wording for the restriction"):
        reworded("Only on Tuesdays")


def test_what_is_reported_of_versions_lies_between_what_was_read() -> None:
    reported = tomllib.loads((generate.FACTS / "releases.toml").read_text())
    assert set(reported).isdisjoint(facts())
    power = [load_target(f"trt10.{minor}").ops["Pow"].dtypes for minor in range(10, 17)]
    assert [("int32" in (found or ())) for found in power] == [False] * 2 + [True] * 5
    before, after = (load_target(f"trt10.{minor}").ops for minor in (10, 14))
    own = {op for op in (*before, *after) if not op.startswith("TRT_")}
    changed = {op for op in own if before.get(op) != after.get(op)}
    assert changed == {"Pow", "Attention"}
    assert [load_target(f"trt11.{minor}").ops["DFT"].supported for minor in range(5)] == [
        False, False, True, True, True,
    ]  # fmt: skip
