"""Colours, where the reader is a terminal; and the small shapes that all text views share."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from graphfix.ir.printing import printable as printable

if TYPE_CHECKING:
    from graphfix.ir.storage.shared_weights import Shared

WIDTH = 80

_CODES = {"bold": "1", "red": "31", "green": "32", "yellow": "33", "cyan": "36", "dim": "2"}


class Style(Struct, frozen=True):
    """How to emphasise; without colour every method returns its text unchanged."""

    colour: bool = False

    def paint(self, text: str, *names: str) -> str:
        """Return `text` in the named styles: bold, dim, red, green, yellow, cyan."""
        if not self.colour or not text:
            return text
        return f"\x1b[{';'.join(_CODES[name] for name in names)}m{text}\x1b[0m"


PLAIN = Style()


def wrap(text: str, indent: str = "", first: str | None = None) -> list[str]:
    """Break text at spaces to lines of at most 80 columns; long names stay whole.

    Args:
        text: What to break.
        indent: What the lines start with.
        first: What the first line starts with, where it differs.
    """
    lines = textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines or [(indent if first is None else first).rstrip()]


def labelled(label: str, text: str, indent: int = 4, width: int = 10) -> list[str]:
    """Return ``label   text`` with the text wrapped under itself; nothing for an empty text."""
    if not text:
        return []
    margin = " " * (indent + width)
    return wrap(text, margin, " " * indent + label.ljust(width))


def table(rows: Sequence[Sequence[str]], indent: str = "  ", gap: str = "  ") -> list[str]:
    """Return rows as aligned columns; the last one is wrapped under itself.

    A cell that is longer than half a line pushes only its own row to the right; where little room
    is left then, the last one has lines of its own.
    """
    if not rows:
        return []
    columns = len(rows[0])
    widths = [min(max(len(row[i]) for row in rows), WIDTH // 2) for i in range(columns - 1)]
    lines: list[str] = []
    for row in rows:
        head = indent + "".join(row[i].ljust(widths[i]) + gap for i in range(columns - 1))
        half = WIDTH // 2 + len(indent) + len(gap)
        if len(head) <= half or len(head) + len(row[-1]) <= WIDTH:
            lines += wrap(row[-1], " " * len(head), head)
        else:
            room = max(len(indent) + 4, WIDTH - len(row[-1]))
            lines += [head.rstrip(), *wrap(row[-1], " " * min(WIDTH // 2, room))]
    return lines


def capped(items: Sequence[str], most: int) -> str:
    """Return ``a, b and 12 more``."""
    shown = ", ".join(items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"


def count(number: int, noun: str, plural: str = "") -> str:
    """Return ``1 node``, ``2 nodes``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def shared_text(shared: Shared) -> str:
    """Say what became of weights that several results hold."""
    if not shared.weights:
        return "no two results hold the same in two places"
    there = f"{count(shared.weights, 'weight')} of the results are read in {', '.join(shared.data)}"
    return f"{there}, {size(shared.spared)} less" if shared.spared > 0 else there


def size(number: int) -> str:
    """Return a number of bytes as people say it: ``512 B``, ``1.5 MB`` (1000-based)."""
    if number < 1000:
        return f"{number} B"
    value = float(number)
    for unit in ("kB", "MB", "GB"):
        value /= 1000
        if value < 999.95:
            return f"{value:.1f} {unit}"
    return f"{value / 1000:.1f} TB"


def join(lines: Iterable[str]) -> str:
    """Return lines as one text without trailing blanks."""
    return "\n".join(line.rstrip() for line in lines)
