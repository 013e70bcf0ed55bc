"""The table of an attack."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

FINDINGS = ("differs", "raises", "exception")
MARK = "<!-- below: written by hand, kept -->"


def page(rows: list[dict[str, Any]], old: Path) -> str:
    """Return the page, with the part of the old one that is written by hand."""
    models = {(row["family"], row["name"]) for row in rows}
    compared = sum(row.get("feeds", 0) for row in rows)
    found = sum(row["status"] in FINDINGS for row in rows)
    names = "family, models, runs, compared, exit 0, equal, unchanged, said, open, faults"
    lines = [
        "# Attack",
        "",
        "`python -m benchmarks.attack`: models made after reading the source, judged by",
        "onnxruntime, and for calls of ATen by PyTorch, in processes that share no code with",
        "graphfix.",
        "",
        f"{len(models)} models, {len(rows)} runs, {compared} comparisons, {found} findings.",
        "",
        "| " + names.replace(", ", " | ") + " |",
        "|---" * (names.count(",") + 1) + "|",
    ]
    for family in dict.fromkeys(row["family"] for row in rows):
        own = [row for row in rows if row["family"] == family]
        count = Counter(row["status"] for row in own)
        said = sum(v for k, v in count.items() if k.startswith("said") or k == "refused")
        cells = (
            family,
            len({row["name"] for row in own}),
            len(own),
            sum(row.get("feeds", 0) for row in own),
            sum(row["exit"] == 0 for row in own),
            count["equal"],
            count["unchanged"],
            said,
            count["unjudged"] + count["special"],
            sum(count[k] for k in FINDINGS),
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    kept = old.read_text(encoding="utf-8") if old.exists() else ""
    hand = kept.partition(MARK)[2].strip("\n")
    return "\n".join([*lines, "", MARK, *(["", hand] if hand else []), ""])
