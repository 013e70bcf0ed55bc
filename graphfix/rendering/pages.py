"""The generated part of the documentation: python -m graphfix.rendering.pages docs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from graphfix.rendering import message_pages, pass_pages, rule_pages, target_pages


def pages() -> Mapping[str, str]:
    """Return the text of each generated page by its path below the folder of the documentation."""
    return {
        **{f"passes/{name}": text for name, text in pass_pages.pages().items()},
        **{f"targets/{name}": text for name, text in target_pages.pages().items()},
        **{f"messages/{name}": text for name, text in message_pages.pages().items()},
        "rules.md": rule_pages.page(),
    }


def write(folder: Path) -> None:
    """Write every page below `folder`, which is made, and remove those of what is gone.

    Raises OSError where `folder` cannot be written to.
    """
    made = pages()
    for name, text in made.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    parts = {name.partition("/")[0] for name in made if "/" in name}
    for path in (path for part in parts for path in folder.glob(f"{part}/*.md")):
        if path.relative_to(folder).as_posix() not in made:
            path.unlink()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(Path(sys.argv[1]))
