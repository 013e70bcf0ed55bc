"""Cells of the tables of a sweep."""

from __future__ import annotations


def cell(text: str, longest: int = 120) -> str:
    """Return text as one line of a table, cut where it is too long."""
    line = " ".join(text.split()).replace("|", "\\|")
    return line if len(line) <= longest else f"{line[: longest - 3]}..."


def share(part: int, whole: int) -> str:
    """Return a part of a whole with its percentage."""
    return f"{part} of {whole} ({100 * part / whole:.1f}%)" if whole else "0 of 0"
