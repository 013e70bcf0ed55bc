"""The generated part of the documentation: python -m graphfix.rendering.pages docs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from graphfix.rendering import pass_pages, rule_pages, target_pages


def pages() -> Mapping[str, str]:
    """Return the text of each generated page by its path below the folder of the documentation."""
    return {
        **{f"passes/{name}": text for name, text in pass_pages.pages().items()},
        **{f"targets/{name}": text for name, text in target_pages.pages().items()},
        "rules.md": rule_pages.page(),
    }


def stale(folder: Path) -> list[str]:
    """Return the pages below `folder` that are missing, out of date, or of nothing any more."""
    made = pages()
    there = {
        path.relative_to(folder).as_posix()
        for path in folder.glob("*/*.md")
        if path.parent.name in ("passes", "targets")
    }
    old = [
        name
        for name, text in made.items()
        if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != text
    ]
    return sorted({*old, *(there - set(made))})


def write(folder: Path) -> None:
    """Bring every page below `folder` up to date, and remove those of what is gone."""
    made = pages()
    for name in stale(folder):
        path = folder / name
        if name in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(made[name], encoding="utf-8")
        else:
            path.unlink()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(Path(sys.argv[1]))
