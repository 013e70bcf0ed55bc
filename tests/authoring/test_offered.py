"""What pass files import: what lower layers offer them, and what their own family shares."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from graphfix import authoring

PASSES = Path(__file__).parents[2] / "passes"
OFFERED = ("authoring", "analysis", "errors", "ir", "opset", "validity")  # of graphfix


def imported(path: Path) -> set[str]:
    """Return the modules of graphfix that a file imports."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            modules.add(node.module or "")
        elif isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
    return {name for name in modules if name.partition(".")[0] == "graphfix"}


@pytest.mark.parametrize("family", sorted(p.name for p in PASSES.iterdir() if p.is_dir()))
def test_passes_import_lower_layers_and_what_their_family_shares(family: str) -> None:
    own = f"graphfix.passes.{family}"
    for path in (PASSES / family).glob("*.py"):
        other = {
            name
            for name in imported(path) - {own}
            if name.split(".")[1] not in OFFERED and not name.startswith(f"{own}._")
        }
        assert not other, path


def test_other_names_are_not_offered() -> None:
    name = "nothing"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = getattr(authoring, name)
