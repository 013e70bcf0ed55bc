"""What the hand-written pages name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphfix.authoring import declaring
from graphfix.errors import InvalidModel, PassBug, UsageError
from graphfix.report import Severity, Status

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "docs/README.md",
    "docs/design.md",
    "benchmarks/README.md",
    "fixtures/README.md",
)
CHAPTERS = tuple(
    str(path.relative_to(ROOT)) for path in sorted((ROOT / "graphfix").glob("*/README.md"))
)
DESIGN = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
LONGEST_MAP = 150


@pytest.mark.parametrize("page", [*PAGES, *CHAPTERS])
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
        assert ((ROOT / page).parent / target).exists(), target


@pytest.mark.parametrize("page", [*PAGES, *CHAPTERS])
def test_files_in_code_type_are_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:graphfix|passes|docs|tests|fixtures|benchmarks)/[\w/.*-]*)`", text)
    for name in named:
        found = list(ROOT.glob(name.rstrip("/")))
        assert found, f"{page} names {name}, which is not there"


def test_the_design_is_a_map_that_links_every_chapter() -> None:
    assert len(DESIGN.splitlines()) <= LONGEST_MAP
    for chapter in CHAPTERS:
        assert f"](../{chapter})" in DESIGN


@pytest.mark.parametrize("page", ["docs/design.md", *CHAPTERS])
def test_the_design_names_modules_that_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for name in re.findall(r"`((?:\w+/)*\w+\.(?:py|toml|json))`", text):
        assert (ROOT / name).is_file() or list((ROOT / "graphfix").rglob(name)), name


def test_the_design_lists_every_layer() -> None:
    (block,) = re.findall(r"^errors +report +operators.*?^```", DESIGN, re.MULTILINE | re.DOTALL)
    words = set(re.findall(r"\w+", block))
    layers = {
        path.stem
        for path in (ROOT / "graphfix").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    } - {"__init__", "__main__"}
    assert layers <= words, layers - words


def test_the_design_has_the_words_of_the_code() -> None:
    for severity in Severity:
        assert f"`{severity}`" in DESIGN
    stages = {declaring.PREPARE, declaring.CANONICAL, declaring.TARGETED, declaring.NAMED}
    for stage in (*stages, declaring.INTERFACE):
        assert f"`{stage}`" in DESIGN
    for status in Status:
        assert str(status).replace("_", " ") in DESIGN
    for error in (UsageError, InvalidModel, PassBug):
        assert f"`{error.__name__}` ({error.exit_code})" in DESIGN


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    for path in (ROOT / "docs").glob("*.md"):
        assert path.name == "README.md" or f": {path.name}\n" in navigation, path.name
