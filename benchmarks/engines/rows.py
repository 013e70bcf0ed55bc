"""What became of each network in an engine: a line each, in a table that is kept.

A further run continues after it, and what does not change with graphfix (the model as it is, and
after onnxsim) is not asked again.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

FORMS: tuple[str, ...] = ("as it is", "onnxsim", "graphfix")
VERDICTS = ("equal", "wrong", "refused", "crashed", "none")
POSSIBLY = "possibly wrong"  # where no finding is sure of it
ALONE = "wrong alone"  # where the model comes out right, and a node that is called wrong does not
REFUSED = frozenset({"reject", "builder"})
BLOCKS = frozenset({*REFUSED, "wrong", POSSIBLY, ALONE})
_TAKES_NOT = ("refused", "crashed")
_COLUMNS = ("file", *FORMS, "exit code", "check", "sizes", "consent", "words")
_WORDS = 160
_FOLDERS = re.compile(r"/\S*/(?=site-packages/)")  # where an engine happens to be installed


@dataclass(frozen=True)
class Row:
    """What became of a model that onnxruntime runs; or, of one that it does not run, its name.

    Attributes:
        file: Its path in the folder.
        verdicts: Form -> what becomes of it; empty where onnxruntime does not run the model.
        code: The exit code of `graphfix run`.
        found: The severities of what `graphfix check` finds in the model as it is.
        sized: Whether sizes of inputs that it leaves open were fixed.
        consent: The options of consent that `graphfix run` was given.
        words: What the engine says of the result of graphfix, where that is not equal.
    """

    file: str
    verdicts: Mapping[str, str]
    code: int = 0
    found: tuple[str, ...] = ()
    sized: bool = False
    consent: tuple[str, ...] = ()
    words: str = ""

    @property
    def runs(self) -> bool:
        """Whether onnxruntime runs the model."""
        return bool(self.verdicts)

    @property
    def equal(self) -> bool:
        """Whether the engine computes the same from the result of graphfix."""
        return self.verdicts.get(FORMS[-1]) == "equal"

    @property
    def refused(self) -> bool:
        """Whether the engine takes the model as it is not."""
        return self.verdicts[FORMS[0]] in _TAKES_NOT

    @property
    def foreseen(self) -> bool:
        """Whether `check` finds something in the model as it is if the engine is not right."""
        blocked = bool(BLOCKS & set(self.found))
        return blocked == (self.verdicts[FORMS[0]] != "equal")


def read(path: Path) -> list[Row]:
    """Return the rows of a table, the last of each model; none where there is no table."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as stream:
        lines = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        rows = {line["file"]: _row(line) for line in lines}
    return list(rows.values())


def write(path: Path, rows: Iterable[Row]) -> None:
    """Write a table, in the order of the models' names."""
    made = path.with_suffix(".new")
    with made.open("w", encoding="utf-8", newline="") as stream:
        stream.write("\t".join(_COLUMNS) + "\n")
        stream.writelines(map(_line, sorted(rows, key=lambda row: row.file)))
    made.replace(path)


def append(path: Path, row: Row) -> None:
    """Add a row to a table."""
    if not path.is_file():
        write(path, [])
    with path.open("a", encoding="utf-8", newline="") as stream:
        stream.write(_line(row))


def _line(row: Row) -> str:
    cells = [row.file, *("" for _ in _COLUMNS[1:])]
    if row.runs:
        verdicts = [row.verdicts[form] for form in FORMS]
        words = _FOLDERS.sub("", " ".join(row.words.split()))[:_WORDS]
        sized = "fixed" if row.sized else ""
        found, consent = ", ".join(row.found), " ".join(row.consent)
        cells = [row.file, *verdicts, str(row.code), found, sized, consent, words]
    return "\t".join(cells) + "\n"


def _row(line: Mapping[str, str]) -> Row:
    if not line[FORMS[0]]:
        return Row(line["file"], {})
    return Row(
        line["file"],
        {form: line[form] for form in FORMS},
        int(line["exit code"]),
        tuple(filter(None, line["check"].split(", "))),
        line["sizes"] == "fixed",
        tuple(line["consent"].split()),
        line["words"],
    )
