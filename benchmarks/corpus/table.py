"""The Markdown of a sweep over a corpus: summary, what is left, verdicts, one line per model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.corpus.acceptance import acceptance
from benchmarks.corpus.cells import cell, share
from benchmarks.corpus.row import Row

_MEANING = {
    0: "nothing left, verified",
    1: "findings left, or equality not shown",
    2: "wrong usage",
    3: "not a model",
    4: "differs",
    5: "a fault in graphfix",
}


def table(rows: Sequence[Row], *, command: str, versions: str, verdicts: dict[str, Any]) -> str:
    """Return the whole file.

    Args:
        rows: One per model.
        command: The command line that made them.
        versions: The versions that it ran with.
        verdicts: An engine's own verdict per file, as `{file: {target: {"ok", "op", "text"}}}`;
            empty when there are none.
    """
    parts = [_head(rows, command, versions), *acceptance(rows, verdicts), _left(rows)]
    resolved = {row.resolved for row in rows} - {""}
    for target in sorted(resolved):
        if any(target in verdicts.get(row.file, {}) for row in rows):
            parts.append(_verdicts(rows, target, verdicts))
    parts += [_trouble(rows), _models(rows)]
    return "\n".join(parts)


def summary(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Return the counts that a reader, and a script, looks at first."""
    codes = Counter(row.code for row in rows)
    exits = [
        (f"exit code {code}" + (f" ({_MEANING[code]})" if code in _MEANING else ""), str(count))
        for code, count in sorted(codes.items())
    ]
    needed = [row for row in rows if row.before]
    cleared = [row for row in needed if not row.after and row.written]
    written_wrong = [row for row in rows if row.written and row.verification == "mismatch"]
    return [
        ("models", str(len(rows))),
        *exits,
        ("tracebacks", str(sum(row.traceback for row in rows))),
        ("verified mismatches written", str(len(written_wrong))),
        ("do-nothing: models with no finding before", str(sum(_untouched(row) for row in rows))),
        ("models with findings before", str(len(needed))),
        ("of these, no finding left", share(len(cleared), len(needed))),
        ("verification", _counts(row.verification for row in rows if row.verification)),
        ("stored results", _counts(row.reference for row in rows if row.reference)),
        ("models with approximate sites", str(sum(bool(row.approximate) for row in rows))),
        ("seconds, sum and largest", _seconds(rows)),
    ]


def _untouched(row: Row) -> bool:
    return bool(row.resolved) and not row.before


def _head(rows: Sequence[Row], command: str, versions: str) -> str:
    lines = ["# Corpus", "", f"`{command}`", "", versions, "", "| | |", "|---|---|"]
    lines += [f"| {name} | {value} |" for name, value in summary(rows)]
    return "\n".join([*lines, ""])


def _left(rows: Sequence[Row]) -> str:
    """Count the models in which each kind of finding is left."""
    models: Counter[str] = Counter()
    had: Counter[str] = Counter()
    for row in rows:
        models.update(set(row.after))
        had.update(set(row.before))
    lines = ["## What is left", "", "| finding | models before | models after |", "|---|---|---|"]
    lines += [f"| {cell(name)} | {had[name]} | {n} |" for name, n in models.most_common()]
    return "\n".join([*lines, ""])


def _verdicts(rows: Sequence[Row], target: str, verdicts: dict[str, Any]) -> str:
    judged = [row for row in rows if target in verdicts.get(row.file, {}) and row.resolved]

    def accepted(row: Row) -> bool:
        return bool(verdicts[row.file][target]["ok"])

    right = [row for row in judged if accepted(row) == (not row.rejects_before)]
    certain = [row for row in judged if accepted(row) == (not row.certain_rejects_before)]
    rejected = [row for row in judged if not accepted(row)]
    repaired = [row for row in rejected if row.written and not row.after]
    lines = [
        f"## Against the parser of {target}",
        "",
        "| | no reject finding | reject finding |",
        "|---|---|---|",
    ]
    for name, wanted in (("accepts", True), ("rejects", False)):
        group = [row for row in judged if accepted(row) is wanted]
        found = sum(bool(row.rejects_before) for row in group)
        lines.append(f"| the parser {name} | {len(group) - found} | {found} |")
    lines += [
        "",
        f"Agreement: {share(len(right), len(judged))}"
        f"; counting certain findings alone: {share(len(certain), len(judged))}.",
        f"Rejected files with no finding left: {share(len(repaired), len(rejected))}.",
        "",
        "| disagreement | parser | reject findings |",
        "|---|---|---|",
    ]
    for row in judged:
        if row not in right:
            verdict = verdicts[row.file][target]
            said = "accepts" if verdict["ok"] else f"{verdict['op']}: {verdict['text']}"
            found_text = _listed(row.rejects_before) or "none"
            lines.append(f"| {row.file} | {cell(said, 110)} | {found_text} |")
    return "\n".join([*lines, ""])


def _trouble(rows: Sequence[Row]) -> str:
    """List the models whose numbers or exit codes want looking into."""
    lines = ["## To look into", "", "| model | exit | stored results | why |", "|---|---|---|---|"]
    for row in rows:
        wrong = row.reference in ("mismatch", "does not run") or row.verification == "mismatch"
        # An operator that onnxruntime does not know may be left only where a finding says so.
        wrong = wrong or (row.reference == "never ran" and not row.after)
        if wrong or row.traceback or row.code not in (0, 1, 3):
            why = cell(row.reason, 160)
            lines.append(f"| {row.file} | {row.code} | {row.reference} | {why} |")
    return "\n".join([*lines, ""])


def _models(rows: Sequence[Row]) -> str:
    lines = [
        "## Models",
        "",
        "before, after: findings of severity reject, wrong and builder. do-nothing: yes where the",
        "untouched file has none. stored results: PyTorch's own, compared with the repaired file",
        "in onnxruntime with optimisations off; `as exported`: the untouched file differs from",
        "them and the repaired one equals it; `never ran`: neither runs.",
        "",
        "| model | before | after | exit | verification | stored results | s | do-nothing | left |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = (
            row.file,
            str(len(row.before)),
            str(len(row.after)),
            str(row.code),
            row.verification,
            row.reference,
            f"{row.seconds:.1f}",
            "yes" if _untouched(row) else "no",
            _listed(row.after),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _listed(names: Iterable[str], most: int = 3) -> str:
    counted = Counter(names)
    shown = [f"{name} x{n}" if n > 1 else name for name, n in list(counted.items())[:most]]
    more = len(counted) - most
    return cell(", ".join([*shown, f"{more} more"] if more > 0 else shown), 200)


def _counts(values: Iterable[str]) -> str:
    return ", ".join(f"{name} {n}" for name, n in Counter(values).most_common()) or "none"


def _seconds(rows: Sequence[Row]) -> str:
    slowest = max(rows, key=lambda row: row.seconds, default=None)
    if slowest is None:
        return "0"
    return f"{sum(r.seconds for r in rows):.0f}, {slowest.seconds:.1f} ({slowest.file})"
