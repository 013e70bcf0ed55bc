"""The tables of the opset benchmark: figures, what was refused, what went wrong."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.opset.conversions import STATUSES, Row

PEERS = {"onnx": "onnx.version_converter %", "restamp": "restamped %"}
KINDS = ("hand-written", "function bodies")
_UNNAMED = re.compile(r"of \S+(?= is unknown)")
_Key = tuple[int, str]


def node_table(rows: Sequence[Row], left_out: Counter[tuple[int, str, int, str]]) -> list[str]:
    """Return the tables of the node tests.

    Args:
        rows: One for each test, variant, target and converter.
        left_out: How many tests are inexpressible, by source, variant, target and set.
    """
    peers = [name for name in PEERS if any(row.converter == name for row in rows)]
    shown = (*STATUSES, "equal %", *(PEERS[name] for name in peers))
    lines: list[str] = []
    for (source, variant), chosen in _groups(rows):
        targets = list(dict.fromkeys(row.target for row in chosen))
        lines += ["", f"## From opset {source}, {variant}", ""]
        lines += ["| set | to | tests | left out | " + " | ".join(shown) + " | by the reference |"]
        lines += ["|---|---|---|---|" + "---|" * (len(shown) + 1)]
        for label in KINDS:
            for target in targets:
                here = [r for r in chosen if r.target == target and kind_of(r.name) == label]
                if not here:
                    continue
                own = [r for r in here if r.converter == "graphfix"]
                counts = Counter(r.status for r in own)
                cells = [label, str(target), str(len(own))]
                cells += [str(left_out[(source, variant, target, label)])]
                cells += [str(counts[status]) for status in STATUSES]
                for name in ("graphfix", *peers):
                    cells.append(_share([r for r in here if r.converter == name]))
                alone = sum(r.engine == "reference" and r.status == "equal" for r in own)
                lines.append("| " + " | ".join([*cells, str(alone)]) + " |")
    return [*lines, *_refusals(rows), *_faults(rows)]


def corpus_table(rows: Sequence[Row]) -> list[str]:
    """Return the tables of a folder of models."""
    lines = ["| to | models | " + " | ".join(STATUSES) + " | equal % |"]
    lines += ["|---|---|" + "---|" * (len(STATUSES) + 1)]
    for target in dict.fromkeys(row.target for row in rows):
        here = [row for row in rows if row.target == target]
        counts = Counter(row.status for row in here)
        cells = " | ".join(str(counts[status]) for status in STATUSES)
        lines.append(f"| {target} | {len(here)} | {cells} | {_share(here)} |")
    return [*lines, *_refusals(rows), *_faults(rows)]


def kind_of(name: str) -> str:
    """Tell tests that someone wrote from the function bodies that are expanded from them."""
    return KINDS["_expanded" in name]


def _share(rows: Sequence[Row]) -> str:
    equal = sum(row.status == "equal" for row in rows)
    return f"{100 * equal / len(rows):.1f}" if rows else ""


def _groups(rows: Sequence[Row]) -> Iterator[tuple[_Key, list[Row]]]:
    for key in dict.fromkeys((row.source, row.variant) for row in rows):
        yield key, [row for row in rows if (row.source, row.variant) == key]


def _refusals(rows: Sequence[Row]) -> Iterator[str]:
    for (source, variant), chosen in _groups(rows):
        refused = [r for r in chosen if r.status == "refused" and r.converter == "graphfix"]
        for target in dict.fromkeys(row.target for row in refused):
            origin = f", from opset {source}, {variant}" if variant else ""
            yield from ("", f"## Refused on the way to {target}{origin}", "")
            yield from ("| reason | models |", "|---|---|")
            reasons = Counter(
                part
                for row in refused
                if row.target == target
                for part in dict.fromkeys(_UNNAMED.sub("of some value", row.reason).split(" | "))
            )
            for reason, count in reasons.most_common():
                yield f"| {reason} | {count} |"


def _faults(rows: Sequence[Row]) -> Iterator[str]:
    yield from ("", "## Anything else", "", "| model | from | to | status | reason |")
    yield "|---|---|---|---|---|"
    for row in rows:
        if row.status not in ("equal", "refused") and row.converter == "graphfix":
            origin = f"{row.source} {row.variant}".strip()
            status = f"{row.status} ({row.engine})"
            yield f"| {row.name} | {origin} | {row.target} | {status} | {row.reason} |"
