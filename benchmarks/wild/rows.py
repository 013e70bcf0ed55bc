"""What is kept of a measurement: JSON lines, so that a further run continues after the last."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Fact = dict[str, Any]
FOUND = " found"  # after a target: the kind of the rows that tell what `check` finds


@dataclass
class Rows:
    """A file of rows: each has a `kind`, a `sha256` and what was found.

    Attributes:
        path: The file; it need not be there.
    """

    path: Path

    def __post_init__(self) -> None:
        """Read what is there."""
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.is_file() else []
        self._known: dict[tuple[str, str], Fact] = {
            (row["kind"], row["sha256"]): row for row in map(json.loads, lines)
        }

    def has(self, kind: str, sha256: str) -> bool:
        """Say whether a row is there."""
        return (kind, sha256) in self._known

    def get(self, kind: str, sha256: str) -> Fact:
        """Return a row; empty where it is not there."""
        found: Fact = self._known.get((kind, sha256), {})
        return found

    def keep(self, kind: str, sha256: str, **found: Any) -> None:
        """Add a row."""
        row = {"kind": kind, "sha256": sha256, **found}
        self._known[kind, sha256] = row
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")

    def kinds(self) -> list[str]:
        """Return the kinds that there are, in the order of their names."""
        return sorted({kind for kind, _ in self._known})

    def of(self, kind: str) -> Iterator[Fact]:
        """Yield the rows of a kind."""
        return (row for (name, _), row in self._known.items() if name == kind)
