"""The page on the files of today's exporters, and what on it must not be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

from benchmarks.ended import FAULT
from benchmarks.pipelines.row import Row

MEDIAN_SECONDS, MOST_SECONDS = 3.0, 15.0
_CODES = (0, 1, 3, 4, 5)


def faults(rows: Sequence[Row]) -> list[str]:
    """Return a line for everything that must not be."""
    found = [f"{row.file}: exit {row.code}" for row in rows if row.code == FAULT or row.code < 0]
    found += [
        f"{row.file}: not compared for a limit: {row.reason}" for row in rows if row.met_limit
    ]
    found += [f"{row.file}: {row.cpu:g} s" for row in rows if row.cpu > MOST_SECONDS]
    middle = median(row.cpu for row in rows) if rows else 0.0
    if middle > MEDIAN_SECONDS:
        found.append(f"median {middle:.1f} s")
    return found


def page(rows: Sequence[Row], target: str) -> str:
    """Return the page as Markdown."""
    spent = sorted(row.cpu for row in rows)
    ended = Counter(row.code for row in rows)
    limited = sum(row.met_limit for row in rows)
    lines = [
        f"# Files of today's exporters, repaired for {target}",
        "",
        f"{len(rows)} small networks as exporters, quantizers, converters and optimizers write",
        f"them; `python -m benchmarks.pipelines FOLDER --target {target}`. Seconds are of a",
        "processor, of the command and all of its children.",
        "",
        f"- ended with 0: {ended[0]}; with 5: {ended[FAULT]}",
        f"- not compared because of a limit of memory or time: {limited}",
    ]
    if spent:
        lines.append(f"- median {median(spent):.1f} s, most {spent[-1]:.1f} s")
    lines += ["", "| kind | files | " + " | ".join(f"exit {code}" for code in _CODES) + " |"]
    lines.append("|---" * (2 + len(_CODES)) + "|")
    for kind in sorted({row.kind for row in rows}):
        of_kind = [row for row in rows if row.kind == kind]
        codes = Counter(row.code for row in of_kind)
        counts = " | ".join(str(codes[code]) for code in _CODES)
        lines.append(f"| {kind} | {len(of_kind)} | {counts} |")
    lines += ["", "| file | exit | compared | s | by the clock | why |", "|---" * 6 + "|"]
    for row in rows:
        why = row.reason.replace("|", "\\|")
        lines.append(
            f"| {row.file} | {row.code} | {row.verification or '-'} | {row.cpu:.1f} "
            f"| {row.wall:.1f} | {why} |"
        )
    return "\n".join(lines) + "\n"
