"""The part of a sweep's table that counts files against what was promised of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.corpus.cells import cell, share
from benchmarks.corpus.row import Row

_JUDGE = "trt8.6"  # the parser whose rejections and misreadings make the first group
_SHOWN = 3
Verdict = dict[str, Any]


def verdicts_of(root: Path) -> dict[str, Verdict]:
    """Return what engines say of each file of a corpus; nothing where that is not known."""
    for path in (root / "open" / "verdicts.json", root / "verdicts.json"):
        if path.exists():
            found: dict[str, Verdict] = json.loads(path.read_text(encoding="utf-8"))
            return found
    return {}


def acceptance(rows: Sequence[Row], verdicts: dict[str, Verdict]) -> list[str]:
    """Return the table of the two groups of files, and the list of what is not done with reasons.

    A file is done where nothing is left of severity reject, wrong and builder, the exit code is
    0 (outputs equal, by the whole or by every site), and the stored results, where there are
    any, are what the repaired file computes, or what the untouched file computes as well. Where
    no engine runs the untouched file, stored results that the repaired file computes are enough.

    Args:
        rows: One per model.
        verdicts: `{file: {target: {"ok", "misread"}, "runs": bool}}`; empty gives nothing.
    """
    groups = [
        (f"rejected or misread by the parser of {_JUDGE}", _of(rows, verdicts, _is_refused)),
        ("run by onnxruntime as they are", _of(rows, verdicts, _runs)),
    ]
    if not any(members for _, members in groups):
        return []
    lines = [
        "## Files done",
        "",
        "done: nothing left and equal outputs (the stored ones where nothing runs the file as it "
        "was). do-nothing: files with nothing to be found before.",
        "",
        "| files | number | done | do-nothing |",
        "|---|---|---|---|",
    ]
    for name, members in groups:
        done = sum(is_done(row) for row in members)
        idle = sum(bool(row.resolved) and not row.before for row in members)
        count = len(members)
        lines.append(f"| {name} | {count} | {share(done, count)} | {share(idle, count)} |")
    lines += ["", "## Files not done", "", "| model | groups | why |", "|---|---|---|"]
    for row in rows:
        member = [str(place) for place, (_, group) in enumerate(groups, 1) if row in group]
        if member and not is_done(row):
            lines.append(f"| {row.file} | {', '.join(member)} | {cell(_why(row), 400)} |")
    return ["\n".join([*lines, ""])]


def is_done(row: Row) -> bool:
    """Say whether nothing is left of a model and its outputs are equal."""
    by_stored = row.code == 1 and row.verification == "skipped" and row.reference == "equal"
    shown = row.code == 0 and row.reference not in ("mismatch", "does not run")
    return (shown or by_stored) and not row.after


def _of(
    rows: Sequence[Row], verdicts: dict[str, Verdict], belongs: Callable[[Verdict], bool]
) -> list[Row]:
    return [row for row in rows if row.file in verdicts and belongs(verdicts[row.file])]


def _is_refused(verdict: Verdict) -> bool:
    judged = verdict.get(_JUDGE, {})
    return not judged.get("ok", True) or bool(judged.get("misread"))


def _runs(verdict: Verdict) -> bool:
    return bool(verdict.get("runs"))


def _why(row: Row) -> str:
    if not row.left_because:
        return row.reason or f"exit code {row.code}, stored results: {row.reference}"
    more = len(row.left_because) - _SHOWN
    shown = "; ".join(row.left_because[:_SHOWN])
    return f"{shown}; and {more} more kinds" if more > 0 else shown
