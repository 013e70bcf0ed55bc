"""The table of the mutants."""

from __future__ import annotations

import math
import platform
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from benchmarks.mutants import sizes
from benchmarks.mutants.changes import KINDS, Point
from benchmarks.mutants.judge import CAP, EPS, NOISE_FACTOR, VALUES
from benchmarks.mutants.survivors import REASONS

LEAST_CAUGHT, LEAST, LEAST_PASSES, LEAST_NEW = 0.98, 400, 15, 80


@dataclass(frozen=True)
class Row:
    """A mutant: where it came from and what it did to each example."""

    unit: str
    point: Point
    seen: list[dict[str, Any]]

    @property
    def wrong(self) -> list[dict[str, Any]]:
        """The examples that it computes something else for."""
        return [s for s in self.seen if s["status"] == "differs"]

    @property
    def counts(self) -> bool:
        """Whether the judge sees a difference."""
        return bool(self.wrong)

    @property
    def caught(self) -> bool:
        """Whether it was rolled back wherever it is wrong."""
        return self.counts and all(s["certificate"] == "caught" for s in self.wrong)

    @property
    def fate(self) -> str:
        """What became of it."""
        statuses = {s["status"] for s in self.seen}
        for status in ("differs", "below", "equal", "fails", "died", "raised", "no site"):
            if status in statuses:
                return status
        return "same"

    @property
    def alarmed(self) -> bool:
        """Whether a certificate differs though the judge sees nothing above the tolerance."""
        return not self.counts and any(s.get("certificate") == "caught" for s in self.seen)

    @property
    def label(self) -> str:
        """Where it is and what was changed."""
        place = f"{self.point.file}.py:{self.point.line}"
        return f"`{self.unit}`, {place}, {self.point.kind}: `{self.point.text}`"


@dataclass
class Found:
    """What a run found.

    Attributes:
        rows: The mutants.
        faults: Examples on which the right pass is not as it should be.
        cpu: Seconds.
        most: How many mutants of one pass were to be made.
    """

    rows: list[Row]
    faults: list[str]
    cpu: float
    most: int

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        rows = [{"unit": r.unit, "point": asdict(r.point), "seen": r.seen} for r in self.rows]
        return {"rows": rows, "faults": self.faults, "cpu": self.cpu, "most": self.most}

    @classmethod
    def of(cls, kept: dict[str, Any]) -> Found:
        """Read what `as_dict` gave."""
        rows = [Row(r["unit"], Point(**r["point"]), r["seen"]) for r in kept["rows"]]
        return cls(rows, kept["faults"], kept["cpu"], kept["most"])


def verdict(found: Found) -> bool:
    """Say whether enough of them count, and enough of those are caught."""
    faults = found.faults
    counted = [row for row in found.rows if row.counts]
    units = {row.unit for row in counted}
    caught = sum(row.caught for row in counted)
    newer = sum(row.point.kind in sizes.KINDS for row in counted)
    enough = len(counted) >= LEAST and len(units) >= LEAST_PASSES and newer >= LEAST_NEW
    return enough and not faults and caught >= LEAST_CAUGHT * len(counted)


def page(found: Found, chosen: str = "") -> str:
    """Return the page; `chosen` are the options by which some were chosen."""
    rows, faults = found.rows, found.faults
    counted = [row for row in rows if row.counts]
    survivors = [row for row in counted if not row.caught]
    below = [row for row in rows if row.fate == "below"]
    alarmed = [row for row in rows if row.alarmed]
    share = 1 - len(survivors) / len(counted) if counted else math.nan
    packages = ", ".join(f"{name} {version(name)}" for name in ("onnx", "onnxruntime", "numpy"))
    caps = ", ".join(f"{cap:g} for {name}" for name, cap in CAP.items())
    steps = ", ".join(f"{eps:g} for {name}" for name, eps in EPS.items())
    lines = [
        "# Mutants",
        "",
        f"`python -m benchmarks.mutants --most {found.most}{chosen}` "
        "(at most so many of one pass): "
        f"{found.cpu:.0f} s of CPU; "
        f"Python {platform.python_version()}, {packages}.",
        "",
        f"**{len(rows)} mutants made, {len(counted)} count over "
        f"{len({row.unit for row in counted})} passes, {len(counted) - len(survivors)} are caught "
        f"({share:.1%}).**",
        "",
        "Passes and steps of the opset were made wrong in one place each. What a mutant makes of",
        "the examples in `benchmarks/mutants/examples/` is judged against numpy and the reference",
        f"evaluator in float64, on at least {VALUES:,} values for each example and dtype. It",
        "counts when it differs by more than the tolerance of the certificates,",
        f"`min(max({NOISE_FACTOR:g} * noise, floor * eps * magnitude), cap * magnitude)`:",
        f"the cap is {caps};",
        f"eps is {steps};",
        "the floor is 8, 2 for 16 bits; integers, shapes and types have to be equal. It is caught",
        "when every example that came out wrong was taken back by a certificate; inconclusive is",
        "not caught.",
        "",
        "| fate | mutants |",
        "|---|---|",
    ]
    fates = Counter(row.fate for row in rows)
    lines += [f"| {text} | {fates[key]} |" for key, text in _FATES.items()]
    lines += ["", *_matrix(rows, "unit"), "", *_matrix(rows, "kind")]
    lines += _listed("Survivors", survivors, _survived)
    lines += _listed("Below the tolerance, ordinary rounding among them", below, _worst)
    lines += _listed(
        "Caught though the judge sees no difference above the tolerance", alarmed, _alarm
    )
    if faults:
        lines += ["", "## Examples that are not as they should be", ""]
        lines += [f"- {fault}" for fault in faults]
    return "\n".join(lines) + "\n"


_FATES = {
    "differs": "another result: these count",
    "below": "another result within the tolerance",
    "equal": "another graph that computes the same",
    "same": "the same graph for every example",
    "no site": "refuses, or is refused by the builder or the pipeline's own checks",
    "fails": "a graph that onnxruntime does not run",
    "raised": "raises, or the pipeline finds its result invalid",
    "died": "takes too long, or ends its process",
}


def _matrix(rows: Sequence[Row], by: str) -> list[str]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.unit if by == "unit" else row.point.kind, []).append(row)
    if by == "unit":
        lines = ["| pass | " + " | ".join(KINDS) + " | made | count | caught |"]
        lines.append("|---" * (len(KINDS) + 4) + "|")
        for unit, found in groups.items():
            cells = [_cell([r for r in found if r.point.kind == kind]) for kind in KINDS]
            lines.append(f"| {unit} | {' | '.join(cells)} | {_totals(found)} |")
        return ["Caught / count / made:", "", *lines]
    lines = ["| kind | made | count | caught |", "|---|---|---|---|"]
    return lines + [f"| {kind} | {_totals(groups.get(kind, []))} |" for kind in KINDS]


def _cell(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    return f"{sum(r.caught for r in rows)}/{sum(r.counts for r in rows)}/{len(rows)}"


def _totals(rows: Sequence[Row]) -> str:
    return f"{len(rows)} | {sum(r.counts for r in rows)} | {sum(r.caught for r in rows)}"


def _listed(title: str, rows: Iterable[Row], text: Any) -> list[str]:
    found = [f"- {row.label}: {text(row)}".replace("\n", " ") for row in rows]
    return ["", f"## {title}", "", *(found or ["None."])]


def _survived(row: Row) -> str:
    missed = [s for s in row.wrong if s["certificate"] != "caught"]
    first = missed[0]
    text = f"{len(missed)} of {len(row.wrong)} examples, {first['example']}: {first['text']}; "
    text += f"certificate {first['certificate'] or 'none'}, {first['reason']}"
    for key, why in REASONS.items():
        if key in row.label:
            return f"{text}. {why}"
    return text


def _worst(row: Row) -> str:
    worst = max((s for s in row.seen if s["status"] == "below"), key=lambda s: s["excess"])
    return f"{worst['example']}: {worst['text']}"


def _alarm(row: Row) -> str:
    first = next(s for s in row.seen if s.get("certificate") == "caught")
    return f"{first['example']}: {first['reason'][:160]}"
