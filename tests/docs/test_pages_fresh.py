"""The generated pages are fresh, and every pass has what its page and its neighbours need."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from graphfix.authoring.declaring import Pass
from graphfix.engines.rule import all_rules
from graphfix.rendering import pages, pass_pages, rule_pages
from graphfix.rendering.pass_pages import HEADINGS, own_passes, sections

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FILES = sorted(path for path in (ROOT / "passes").glob("*/*.py") if not path.name.startswith("_"))
PASSES = own_passes()
each_pass = pytest.mark.parametrize("known", PASSES, ids=lambda known: known.id)
# Passes that share one computation, and so one file.
TWINS = {
    "aten_triangles": {"aten-tril", "aten-triu"},
    "ends": {
        "bfloat16-ends-to-float32",
        "float64-ends-to-float32",
        "integer-ends-to-wider",
        "uint8-ends-to-int32",
    },
    "resize_to_matmul": {"resize-cubic-to-matmul", "resize-linear-to-matmul"},
}


def test_the_generated_pages_are_fresh() -> None:
    assert pages.stale(DOCS) == [], "run python -m graphfix.rendering.pages docs"


def test_stale_pages_are_found_and_mended(tmp_path: Path) -> None:
    pages.write(tmp_path)
    assert pages.stale(tmp_path) == []
    (tmp_path / "rules.md").write_text("old")
    (tmp_path / "passes" / "gone.md").write_text("of a pass that is gone")
    (tmp_path / "targets" / "index.md").unlink()
    assert pages.stale(tmp_path) == ["passes/gone.md", "rules.md", "targets/index.md"]
    pages.write(tmp_path)
    assert pages.stale(tmp_path) == []


def test_every_file_is_one_pass_of_its_name_or_holds_twins() -> None:
    assert len({path.stem for path in FILES}) == len(FILES), "two pass files have the same name"
    held: dict[str, set[str]] = {path.stem: set() for path in FILES}
    for known in PASSES:
        source = Path(known.source)
        held[source.stem].add(known.id)
        assert known.family == source.parent.name
    assert {name: ids for name, ids in held.items() if ids != {name.replace("_", "-")}} == TWINS


def test_ids_are_unique() -> None:
    assert max(Counter(known.id for known in PASSES).values()) == 1


@each_pass
def test_the_docstring_has_the_fixed_headings(known: Pass) -> None:
    found = sections(known.doc)
    assert list(found) == ["", *HEADINGS]
    assert all(text.strip() for text in found.values()), "nothing stands under a heading"
    assert found[""].count("\n") == 0, "the summary is one line"
    assert found[""].endswith(".")


@each_pass
def test_the_pass_has_a_test_file(known: Pass) -> None:
    file = ROOT / "tests" / "passes" / f"test_{known.id.replace('-', '_')}.py"
    assert file.is_file(), f"{known.id} has no {file.relative_to(ROOT)}"
    assert "def test_" in file.read_text(encoding="utf-8")


@each_pass
def test_the_pass_can_be_chosen(known: Pass) -> None:
    assert known.removes or known.stage != "targeted", "no finding can ask for it"
    assert known.kind == "graph" or known.matches


def test_every_test_file_is_of_a_pass() -> None:
    tests = {path.stem.removeprefix("test_") for path in (ROOT / "tests/passes").glob("test_*.py")}
    families = {path.name for path in (ROOT / "passes").iterdir() if path.is_dir()}
    unknown = tests - {known.id.replace("-", "_") for known in PASSES} - families
    assert unknown == set()


def test_sections_take_either_indentation() -> None:
    doc = "Do it.\n\nWhat it does:\nThis: that.\n\n    more\n\nBefore:\n    y = A (x)\n"
    assert sections(doc) == {
        "": "Do it.",
        "What it does:": "This: that.\n\n    more",
        "Before:": "y = A (x)",
    }


def test_a_page_has_what_the_pass_says() -> None:
    (known,) = (one for one in PASSES if one.id == "identity-elimination")
    text = pass_pages.page(known)
    lines = text.splitlines()
    assert lines[:3] == ["# identity-elimination", "", known.summary]
    assert "- Family: canonical" in lines
    assert "- Runs: on every model that a target is given for" in lines
    assert [line for line in lines if line.startswith("## ")] == [
        f"## {heading.removesuffix(':')}" for heading in HEADINGS
    ]
    assert lines.count("```") == 4


def test_the_rules_are_listed() -> None:
    text = rule_pages.page()
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert len(rows) == len(all_rules())
    for rule in all_rules():
        assert f"| `{rule.id}` |" in text
        assert rule.source, f"{rule.id} does not say where it was read"
