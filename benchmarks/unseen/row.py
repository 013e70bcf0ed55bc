"""What became of an unseen network for an engine, by rules alone and with the engine asked."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from msgspec import convert

_WORDS = 120


@dataclass(frozen=True)
class Row:
    """What became of a network that onnxruntime runs.

    Attributes:
        engine: The target.
        file: The network.
        before: How the engine runs it as it is: equal, wrong, refused, crashed.
        check: What `graphfix check` ends with.
        code: What `graphfix run` ends with where it does not ask the engine, before consent.
        after: How the engine runs that result.
        asked_code: What it ends with where it asks.
        asked_after: How the engine runs that result.
        seconds: What the run without the engine took.
        asked_seconds: What the run that asks took.
        questions: How often it gave the engine a model, apart from comparing.
        consent: The options of consent that both were given.
        words: What the engine says of a result that it does not run alike.
    """

    engine: str
    file: str
    before: str
    check: int
    code: int
    after: str
    asked_code: int
    asked_after: str
    seconds: float
    asked_seconds: float
    questions: int
    consent: str = ""
    words: str = ""

    @property
    def wrong(self) -> bool:
        """Whether it is called fixed by rules alone, and is not."""
        return self.code == 0 and self.after != "equal"

    @property
    def asked_wrong(self) -> bool:
        """Whether it is called fixed with the engine asked, and is not."""
        return self.asked_code == 0 and self.asked_after != "equal"


_NAMES = [field.name for field in fields(Row)]


def read(path: Path) -> list[Row]:
    """Return the rows of a table; none where there is no table yet."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream, delimiter="\t"))
    return convert(lines, list[Row], strict=False)


def write(path: Path, rows: Iterable[Row]) -> None:
    """Write a table, in order of engines and files."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream, delimiter="\t", lineterminator="\n")
        table.writerow(_NAMES)
        table.writerows(astuple(row) for row in sorted(rows, key=lambda r: (r.engine, r.file)))


def shortened(words: str) -> str:
    """Return what an engine says, on one line of a table."""
    return " ".join(words.split())[:_WORDS]
