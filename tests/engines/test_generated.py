"""What is generated is fresh: the profiles from the facts, the pages from the profiles."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from graphfix.engines import pages
from graphfix.engines import profile as profiles
from graphfix.engines.generate import generated, toml
from graphfix.engines.targets import load_target
from graphfix.engines.tensorrt.wording import reworded

ROOT = Path(__file__).parents[2]
FOLDER = Path(profiles.__file__).parent
FACTS = ROOT.parent / "shared" / "facts"
needs_facts = pytest.mark.skipif(
    not (FACTS / "trt" / "support.json").is_file(),
    reason=f"the facts that profiles are made of are not at {FACTS}",
)


@needs_facts
def test_the_profiles_are_what_the_facts_give() -> None:
    made = generated(FACTS)
    assert set(made) == {
        path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/profiles/*.toml")
    }
    stale = [name for name, text in made.items() if (FOLDER / name).read_text() != text]
    assert stale == [], "run python graphfix/engines/generate.py ../shared/facts"


@needs_facts
def test_every_operator_of_the_tables_is_carried_over() -> None:
    facts = json.loads((FACTS / "trt" / "support.json").read_text())
    for version, entry in facts.items():
        target = load_target(f"trt{version}")
        assert target.opset_max == entry["max_opset"]
        assert set(entry["ops"]) <= set(target.ops)
        registered = entry.get("registered_importers")
        for op, row in entry["ops"].items():
            wanted = row["supported"] if registered is None else op in registered
            assert target.ops[op].supported == wanted, (version, op)
            if wanted:
                assert len(target.ops[op].dtypes or ()) == len(row["dtypes"]), (version, op)


@needs_facts
def test_later_builds_of_7_2_take_all_that_7_2_1_takes() -> None:
    facts = json.loads((FACTS / "trt" / "support_5_7.json").read_text())
    first = set(facts["7.2.1"]["registered_importers"])
    for later in ("21.02", "21.03", "7.2-head"):
        assert first <= set(facts[later]["registered_importers"])


def test_the_pages_are_fresh() -> None:
    folder = ROOT / "docs" / "targets"
    made = pages.pages()
    assert {path.name for path in folder.glob("*.md")} == set(made)
    stale = [name for name, text in made.items() if (folder / name).read_text() != text]
    assert stale == [], "run python -m graphfix.engines.pages docs/targets"


def test_a_page_says_what_its_profile_says() -> None:
    text = pages.page(load_target("trt8.5"))
    assert text.startswith("# trt8.5: TensorRT 8.5\n")
    assert "- Releases: jetpack5.1, jetpack5.1.4, ngc22.12, ngc23.01\n" in text
    assert "| Mod | float16, float32, int32 |  | trt8.5 |\n" in text


def test_toml_comes_back_as_it_was() -> None:
    table = {
        "text": 'a "quoted" \\ line\nand another',
        "long": [f"item {number}" for number in range(20)],
        "flag": True,
        "section": {"a.b": {"x": ["y"], "n": -3}, "empty": {}},
    }
    assert tomllib.loads(toml(table)) == table


def test_a_restriction_without_wording_is_refused() -> None:
    assert reworded("`axes` must be an initializer") == "constant: axes"
    assert reworded("2D or 3D convolutions only\\. Weights `W` must be an initailizer") == (
        "2 or 3 spatial dimensions only; constant: W"
    )
    with pytest.raises(ValueError, match="no wording for the restriction"):
        reworded("Only on Tuesdays")
