"""The site: links between files of the repository lead to pages, and its pages are all there."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
pytest.importorskip("mkdocs", reason='mkdocs is not here: pip install -e ".[docs]"')


@pytest.fixture(scope="module")
def site() -> Any:
    """Return the hook of mkdocs."""
    spec = importlib.util.spec_from_file_location("site_pages", ROOT / "docs" / "site_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_lead_to_pages(site: Any) -> None:
    known = site.homes()
    text = "[a](docs/design.md#x) [b](LICENSE) [`c`](tests/) [d](https://e.org) ![f](g.png) [h](#i)"
    assert site.relinked(text, "README.md", "index.md", known) == (
        "[a](design.md#x) `LICENSE` `c` [d](https://e.org) ![f](g.png) [h](#i)"
    )
    assert site.relinked(
        "[a](../../docs/design.md)", "graphfix/opset/README.md", "inside/opset.md", known
    ) == ("[a](../design.md)")


def test_every_hand_written_page_has_its_place(site: Any) -> None:
    known = site.homes()
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("graphfix/*/README.md")):
        assert path.relative_to(ROOT).as_posix() in known


def test_the_comparison_is_what_was_measured(site: Any) -> None:
    page = site.comparison_page()
    results = (ROOT / "benchmarks" / "results").glob("engines-*.md")
    measured = {path.name: path.read_text(encoding="utf-8") for path in results}
    assert page.count("](benchmarks/engines-") == len(measured) > 5
    for name, text in measured.items():
        (row,) = (line for line in page.splitlines() if f"](benchmarks/{name})" in line)
        equal = [
            next(line for line in text.splitlines() if line.startswith(f"| {form} |")).split(" | ")[
                1
            ]
            for form in ("as it is", "onnxsim", "graphfix")
        ]
        assert [cell.split(" ")[0] for cell in row.split(" | ")[2:5]] == equal


def test_the_comparison_has_the_tables_of_other_tools_as_they_were_measured(site: Any) -> None:
    lines = site.comparison_page().splitlines()
    for name, row, rows in (("speed", "| `graphfix / ", 1), ("surgery", "| rename:", 3)):
        measured = (ROOT / "benchmarks" / "results" / f"{name}.md").read_text(encoding="utf-8")
        shown = [line for line in lines if line.startswith(row)]
        assert len(shown) == rows
        assert set(shown) <= set(measured.splitlines())
    assert any("onnxconverter-common" in line and line.startswith("| network") for line in lines)
    assert not [line for line in lines if "python -m" in line and "benchmarks." not in line]
