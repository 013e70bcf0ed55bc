"""Rows of the score: what became of a file for each target, in each way of preparing it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

WAYS = ("as exported", "onnxsim", "OnnxSlim", "graphfix")
# Of each way, a letter: no problem is found and the outputs are equal; problems are found; the
# outputs differ, or onnxruntime does not run the result; the tool wrote nothing; not compared.
TAKEN, LEFT, DIFFERENT, FAILED, UNKNOWN = "tldfu"


class Row(Struct, frozen=True):
    """What became of a file.

    Attributes:
        file: KIND/EXPORTER/ARCHITECTURE[+PART].
        runs: Whether onnxruntime runs it.
        letters: Target -> a letter for each of `WAYS`.
    """

    file: str
    runs: bool
    letters: Mapping[str, str]

    @property
    def kind(self) -> str:
        """What wrote the file: `exported`, or a tool."""
        return self.file.split("/")[0]

    @property
    def exporter(self) -> str:
        """Who wrote the network."""
        return self.file.split("/")[1]

    def taken(self, target: str, way: str) -> bool:
        """Whether a target takes it, prepared in one way, and it computes the same."""
        return self.letters[target][WAYS.index(way)] == TAKEN


def read(path: Path) -> dict[str, Row]:
    """Return the rows of a file by theirs; none where there is no such file."""
    if not path.is_file():
        return {}
    rows: dict[str, Row] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        file, runs, *letters = line.split("\t")
        of = dict(each.split("=") for each in letters)
        known = rows.get(file)
        rows[file] = Row(file, runs == "1", of if known is None else {**known.letters, **of})
    return rows


def append(path: Path, row: Row) -> None:
    """Add a line for a row."""
    letters = (f"{target}={of}" for target, of in row.letters.items())
    with path.open("a", encoding="utf-8") as file:
        file.write("\t".join((row.file, str(int(row.runs)), *letters)) + "\n")


def targets_of(rows: Iterable[Row]) -> list[str]:
    """Return the targets of which any row says something, in the order of the rows."""
    return list(dict.fromkeys(target for row in rows for target in row.letters))


def share(rows: Sequence[Row], target: str, way: str) -> str:
    """Return how many of some files a target takes, of those that onnxruntime runs."""
    running = [row for row in rows if row.runs and target in row.letters]
    taken = sum(row.taken(target, way) for row in running)
    return f"{taken / len(running):.0%}" if running else "-"
