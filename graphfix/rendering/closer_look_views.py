"""The views of a closer look at a model: text, and JSON."""

from __future__ import annotations

from collections.abc import Sequence

from graphfix.inspection.closer_look import Cell, Table
from graphfix.rendering.as_json import SCHEMA, Json
from graphfix.rendering.style import PLAIN, Style, join, printable, table, wrap

# What a column is called for people; JSON has its key.
_TITLES = {
    "macs": "multiply-adds",
    "of unknown size": "nodes of unknown size",
    "what": "is",
    "sizes": "stored",
    "also a size of": "same as",
}


def looking_text(tables: Sequence[Table], *, style: Style = PLAIN) -> str:
    """Return what was found, for people."""
    lines: list[str] = []
    for found in tables:
        lines += ["", style.paint(found.heading, "bold")]
        head = tuple(_TITLES.get(column, column).upper() for column in found.columns)
        rows = [tuple(_text(cell) for cell in row) for row in found.rows]
        lines += table([head, *rows]) if rows else ["  none"]
        if found.note:
            lines += wrap(printable(found.note), "  ", "  ")
    return join(lines[1:])


def _text(cell: Cell) -> str:
    return "?" if cell is None else printable(f"{cell:,}" if isinstance(cell, int) else cell)


def looking_json(tables: Sequence[Table]) -> Json:
    """Return the object that `graphfix inspect --json` prints with a closer look.

    It has a list of objects for each table, with the columns as keys.
    """
    found: Json = {"schema": SCHEMA}
    for each in tables:
        keys = [column.replace(" ", "_") for column in each.columns]
        found[each.key] = [dict(zip(keys, row, strict=True)) for row in each.rows]
    return found
