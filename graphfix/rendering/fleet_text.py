"""What became of many models, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from graphfix.batch.batch import Fleet
from graphfix.batch.jobs import SCHEMA, Row
from graphfix.rendering.style import Style, capped, count, printable, shared_text, wrap
from graphfix.rendering.wording import Word

WORDS = {
    "fine": "no problem found",
    "fixed": "repaired; outputs equal, or changed as allowed",
    "left": "problems are left, or equality could not be shown",
    "unreadable": "no model, or more than the limits allow",
    "differs": "the result differs; nothing was written",
    "usage": "not done: the options do not fit, or the result cannot be written",
    "fault": "a fault in graphfix",
}
SHOWN = {  # a word of rows.jsonl, and how every command begins with it
    "fine": Word.OK,
    "fixed": Word.FIXED,
    "left": Word.PROBLEMS,
    "differs": Word.DIFFERENT,
    "usage": Word.NOT_DONE,
}
COLOURS = {"fine": "green", "fixed": "green", "left": "yellow"}
_SHOWN = 12
_CURES = 5


def word_shown(word: str) -> str:
    """Return the word that people read for one of rows.jsonl."""
    return SHOWN.get(word, word.upper())


def row_line(row: Row, made: int, of: int, style: Style) -> str:
    """Return a line on one row that was made."""
    word = style.paint(f"{word_shown(row.word):10}", COLOURS.get(row.word, "red"))
    why = f"  {_why(row)}" if _why(row) else ""
    return f"{made:>{len(str(of))}}/{of}  {row.target:12} {word} {printable(row.name)}{why}"


def fleet_text(fleet: Fleet, style: Style) -> str:
    """Return the table of a fleet: what became of how many, and what alone is left of some."""
    lines: list[str] = []
    for target, words in fleet.words.items():
        lines += [f"{target}: {count(words.total(), 'model')}"]
        lines += [_share(word, words, style) for word in WORDS if words[word]]
        lines += [_share(word, words, style) for word in words if word not in WORDS]
        bad = [r for r in fleet.rows if r.target == target and r.word not in ("fine", "fixed")]
        lines += [
            f"    {printable(r.name)}: {', '.join(filter(None, (word_shown(r.word), _why(r))))}"
            for r in bad[:_SHOWN]
        ]
        if len(bad) > _SHOWN:
            lines.append(f"    and {len(bad) - _SHOWN} more")
        cures = fleet.cures[target].most_common(_CURES)
        if cures:
            lines += wrap(
                "the only problem left: "
                + ", ".join(f"{printable(feature)} in {count(n, 'model')}" for feature, n in cures),
                "    ",
                "  ",
            )
        lines.append("")
    there = len(fleet.rows) - fleet.made
    lines.append(f"{count(fleet.made, 'run')} made, {there} known from before")
    if fleet.shared is not None:
        lines.append(f"weights: {shared_text(fleet.shared)}")
    return "\n".join(lines)


def _share(word: str, words: Counter[str], style: Style) -> str:
    shown = style.paint(f"{word_shown(word):10}", COLOURS.get(word, "red"))
    share = 100 * words[word] / words.total()
    return f"  {shown} {words[word]:5}  {share:5.1f}%  {WORDS.get(word, '')}".rstrip()


def _why(row: Row) -> str:
    """Return what is left of a model where something is, else what was said of it."""
    features = [printable(feature) for feature in row.left]
    return f"left: {capped(features, 3)}" if features else printable(row.message)


def fleet_json(fleet: Fleet, rows: Path) -> dict[str, Any]:
    """Return the same for programs, with every row."""
    return {
        "schema": SCHEMA,
        "targets": {target: dict(words) for target, words in fleet.words.items()},
        "cures": {target: dict(c.most_common()) for target, c in fleet.cures.items()},
        "made": fleet.made,
        **({} if fleet.shared is None else {"shared_weights": to_builtins(fleet.shared)}),
        "rows_file": str(rows),
        "rows": [{**to_builtins(row), "word": row.word} for row in fleet.rows],
    }
