"""The pages can be built, and every pass has what its page and its neighbours need."""

from __future__ import annotations

import re
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from runpy import run_path

import pytest

from graphfix.authoring.pass_docs import HEADINGS
from graphfix.engines.known_rules import all_rules
from graphfix.engines.known_wrong import known_wrong
from graphfix.engines.targets import load_target, target_names
from graphfix.rendering import message_pages, pages, pass_pages, rule_pages
from graphfix.rendering.pass_pages import own_passes, sections

ROOT = Path(__file__).parents[2]
FILES = sorted(path for path in (ROOT / "passes").glob("*/*.py") if not path.name.startswith("_"))
PASSES = own_passes()
# Passes that share one computation, and so one file.


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all pages, built where one of something that is gone had been."""
    folder = tmp_path_factory.mktemp("docs")
    (folder / "passes").mkdir()
    (folder / "passes" / "gone.md").write_text("of a pass that is gone", encoding="utf-8")
    (folder / "rules.md").write_text("old", encoding="utf-8")
    (folder / "design.md").write_text("by hand", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:  # as `python -m graphfix.rendering.pages docs`
        patched.setattr(sys, "argv", ["pages", str(folder)])
        run_path(pages.__file__, run_name="__main__")
    return folder


def test_every_pass_and_target_has_its_page_and_nothing_else_has(built: Path) -> None:
    made = {path.relative_to(built).as_posix() for path in built.rglob("*.md")}
    assert made == {
        *(f"passes/{known.id}.md" for known in PASSES),
        *(f"targets/{name}.md" for name in target_names()),
        *(f"messages/{name}" for name in message_pages.pages()),
        *("passes/index.md", "targets/index.md", "rules.md", "design.md"),
    }
    assert (built / "design.md").read_text(encoding="utf-8") == "by hand"


def test_the_lists_name_every_page(built: Path) -> None:
    for folder in ("passes", "targets"):
        listed = (built / folder / "index.md").read_text(encoding="utf-8")
        for path in (built / folder).glob("*.md"):
            assert (f"[{path.stem}]({path.name})" in listed) == (path.stem != "index"), path.name


def test_links_between_pages_lead_somewhere(built: Path) -> None:
    links = 0
    for path in built.rglob("*.md"):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", path.read_text(encoding="utf-8")):
            assert (path.parent / target).is_file(), f"{path.name} links {target}"
            links += 1
    assert links >= len(PASSES) + len(target_names())


def test_every_page_of_a_target_has_its_headings_and_operators(built: Path) -> None:
    for name in target_names():
        text = (built / "targets" / f"{name}.md").read_text(encoding="utf-8")
        headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
        assert text.startswith(f"# {name}: "), name
        known = known_wrong(load_target(name))
        assert [one for one in headings if one not in ("Notes", "Plugins")] == [
            *(["Taken, and computed wrongly"] if known else []),
            "Operators",
            "Unsupported",
        ]
        assert all(f"| {each.rule.id} |" in text for each in known), name
        for op, support in load_target(name).ops.items():
            assert (f"\n| {op} | " in text) == support.supported, (name, op)


def test_every_page_of_a_pass_has_its_headings(built: Path) -> None:
    for known in PASSES:
        text = (built / "passes" / f"{known.id}.md").read_text(encoding="utf-8")
        assert text.startswith(f"# {known.id}\n\n"), known.id
        assert re.findall(r"^## (.*)$", text, re.MULTILINE) == [
            heading.removesuffix(":") for heading in HEADINGS
        ], known.id


def test_every_file_is_one_pass_of_its_name_or_holds_twins() -> None:
    assert len({path.stem for path in FILES}) == len(FILES), "two pass files have the same name"
    held: dict[str, set[str]] = {path.stem: set() for path in FILES}
    for known in PASSES:
        source = Path(known.source)
        held[source.stem].add(known.id)
        assert known.family == source.parent.name
    # The file of one pass is named after it, that of several after what they share.
    assert all(len(ids) > 1 or ids == {name.replace("_", "-")} for name, ids in held.items()), held


def test_ids_are_unique() -> None:
    assert max(Counter(known.id for known in PASSES).values()) == 1


def test_every_docstring_has_the_fixed_headings() -> None:
    for known in PASSES:
        found = sections(known.page)
        assert list(found) == ["", *HEADINGS], known.id
        assert all(text.strip() for text in found.values()), f"{known.id}: an empty heading"
        assert found[""].count("\n") == 0, f"{known.id}: the summary is one line"
        assert found[""].endswith("."), known.id


def test_every_pass_has_a_test_file() -> None:
    for known in PASSES:
        name = known.id.replace("-", "_")
        if (ROOT / "tests" / "passes" / "pairs" / f"{name}.txt").is_file():
            continue
        file = ROOT / "tests" / "passes" / f"test_{name}.py"
        assert file.is_file(), f"{known.id} has no {file.relative_to(ROOT)}"
        found = vars(import_module(f"tests.passes.{file.stem}"))
        tests = [name for name in found if name.startswith(("test_", "Test"))]
        assert any(callable(found[name]) for name in tests), known.id


def test_every_pass_can_be_chosen() -> None:
    for known in PASSES:
        assert known.removes or known.stage != "targeted", f"no finding can ask for {known.id}"
        assert known.kind == "graph" or known.matches, known.id


def test_every_test_file_is_of_a_pass() -> None:
    tests = {path.stem.removeprefix("test_") for path in (ROOT / "tests/passes").glob("test_*.py")}
    families = {path.name for path in (ROOT / "passes").iterdir() if path.is_dir()}
    families |= {path.stem for path in (ROOT / "passes").glob("*/*.py")}  # of several passes
    tests |= {path.stem for path in (ROOT / "tests/passes/pairs").glob("*.txt")}
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


def test_a_page_says_what_the_repair_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {one.id: one for one in PASSES}
    costs = {"identity-elimination": (2, 0.975, 1.5)}
    monkeypatch.setattr(pass_pages, "pass_costs", lambda: costs)
    assert (
        "- Cost: 0.97 times the time of the original in onnxruntime, at most 1.50, on 2 networks, "
        "whose other repairs count, too"
    ) in pass_pages.page(known["identity-elimination"]).splitlines()
    assert "- Cost:" not in pass_pages.page(known["aten-linalg-det"])


def test_what_repairs_cost_is_said_of_repairs_that_are_there() -> None:
    assert pass_pages.pass_costs().keys() <= {known.id for known in PASSES}


def test_the_rules_are_listed() -> None:
    text = rule_pages.page()
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert len(rows) == len(all_rules())
    for rule in all_rules():
        assert f"| `{rule.id}` |" in text
        assert rule.source, f"{rule.id} does not say where it was read"
