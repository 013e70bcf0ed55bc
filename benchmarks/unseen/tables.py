"""Tables of rows that are dataclasses: as files that a further run continues, and on pages."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec import convert

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Row = TypeVar("_Row", bound="DataclassInstance")


def read(path: Path, kind: type[_Row]) -> list[_Row]:
    """Return the rows of a table; none where there is no table yet."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream, delimiter="\t"))
    return [convert(each, kind, strict=False) for each in lines]


def write(path: Path, kind: type[_Row], rows: Iterable[_Row]) -> None:
    """Write a table with the names of its columns."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream, delimiter="\t", lineterminator="\n")
        table.writerow(field.name for field in fields(kind))
        table.writerows(astuple(row) for row in rows)


def line(cells: Sequence[str]) -> str:
    """Return one line of a table in Markdown."""
    return f"| {' | '.join(cells)} |\n"
