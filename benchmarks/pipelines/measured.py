"""Rows of `measure`, and the page on them: per kind and target, both halves next to each other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from benchmarks.pipelines.catalogue import EXPORTED, LOOKED_INTO, half, parted

_REASON = 140
# Names and numbers of one file, left out where reasons are counted.
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_NUMBER = re.compile(r"\d[\d.,]*")
_MOST_CLASSES = 25


class Measured(Struct, frozen=True):
    """What became of a file for a target.

    Attributes:
        target: The target.
        kind: `exported`, or the tool.
        exporter: Who wrote the network.
        file: Its name, without `.onnx`.
        half: `seen` or `unseen`.
        runs: Whether onnxruntime runs the file itself.
        code: The exit code of `graphfix run`.
        verification: What graphfix says of its comparison.
        judged: What `judging` says of the result: equal, different, `does not load` or `run`, other
            inputs, not judged; `-` where there is none.
        share: The worst difference, as a share of what is let through.
        seconds: Of a processor; by the clock where the score measured it.
        reason: Why it did not end with 0, or why it could not be judged.
    """

    target: str
    kind: str
    exporter: str
    file: str
    half: str
    runs: bool
    code: int
    verification: str
    judged: str
    share: float
    seconds: float
    reason: str

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from others."""
        return self.target, f"{self.kind}/{self.exporter}/{self.file}"

    @property
    def good(self) -> bool:
        """Whether it ended with 0 and computes what the original does."""
        return self.code == 0 and self.judged == "equal"


def measured_row(
    name: str,
    target: str,
    said: Mapping[str, Any],
    *,
    code: int,
    verification: str,
    seconds: float,
    reason: str,
) -> Measured:
    """Return the row of a file.

    Args:
        name: The file, below the folder of all.
        target: The target.
        said: What `judging` says of file and result.
        code: The exit code.
        verification: What graphfix says of its comparison, if anything.
        seconds: What it took.
        reason: Why it did not end with 0; empty for what the judge says.
    """
    kind, exporter, architecture = parted(name)
    return Measured(
        target=target,
        kind=kind,
        exporter=exporter,
        file=Path(name).stem,
        half=half(architecture),
        runs=bool(said.get("runs", False)),
        code=code,
        verification=verification or "-",
        judged=str(said.get("status", "not judged")),
        share=float(said.get("share", 0.0)),
        seconds=seconds,
        reason=reason or str(said.get("reason", "")),
    )


HEADER = "\t".join(Measured.__struct_fields__)


def row_line(row: Measured) -> str:
    """Return a row as a line, without its end."""
    values = msgspec.structs.asdict(row)
    # Why a file of the unseen half fails is not even kept.
    values["reason"] = " ".join(row.reason.split())[:_REASON] if row.half == "seen" else ""
    values["runs"] = int(row.runs)
    return "\t".join(
        f"{value:g}" if isinstance(value, float) else str(value) for value in values.values()
    )


def read_rows(path: Path) -> list[Measured]:
    """Return the rows of a file, or none where there is no such file."""
    if not path.is_file():
        return []
    lines = path.read_text("utf-8").splitlines()[1:]
    names = Measured.__struct_fields__
    made = [dict(zip(names, line.split("\t"), strict=True)) for line in lines]
    for row in made:
        if row["file"].partition("+")[0] in LOOKED_INTO:  # since it was measured
            row["half"] = "seen"
    return [
        msgspec.convert({**row, "runs": row["runs"] == "1"}, Measured, strict=False) for row in made
    ]


def rate(rows: Sequence[Measured]) -> str:
    """Return how many of those that onnxruntime runs are good."""
    running = [row for row in rows if row.runs]
    good = sum(row.good for row in running)
    return f"{good} of {len(running)} ({100 * good / len(running):.0f}%)" if running else "-"


def reason_class(row: Measured) -> str:
    """Return why a row is not good, without the names and numbers of one file."""
    judged = "" if row.judged in ("-", "equal") else f"{row.judged}: "
    text = _NUMBER.sub("N", _QUOTED.sub("...", row.reason))
    return f"exit {row.code}, {judged}{text}"[:_REASON].rstrip(", ")


def page(rows: Sequence[Measured], made: int, allowed: Sequence[Measured] = ()) -> str:
    """Return the page as Markdown.

    Args:
        rows: What is measured.
        made: How many files there are to measure.
        allowed: What ended with 1, once more with ``--allow-io-change``.
    """
    targets = sorted({row.target for row in rows})
    files = {row.key[1] for row in rows}
    exporters = len({row.exporter for row in rows})
    tools = len({row.kind for row in rows} - {EXPORTED})
    running = [row for row in rows if row.runs]
    wrong = [row for row in running if row.code == 0 and row.judged != "equal"]
    lines = [
        "# Files of today's exporters and tools, repaired and judged by onnxruntime",
        "",
        f"{len(files)} files of {exporters} exporters, as they are and after",
        f"{tools} tools, with random weights:",
        "`python -m benchmarks.pipelines.generate FOLDER --environments ENVIRONMENTS`, then",
        "`python -m benchmarks.pipelines.measure FOLDER --target ...`; the rows are in",
        f"`pipelines.tsv`. Of the {made} files made so far these are the first by a hash of the",
        "names, and more of the seen half.",
        "",
        "Counted is what ends with 0 and computes in onnxruntime what the original does, of the",
        "files that onnxruntime runs; for OpenVINO and onnxruntime 1.16 the result runs in these,",
        "and a network of floats whose outputs a rounding error of its weights moves by more than",
        "half, as the best of candidates that random weights make equal, is left out; so is one,",
        "for OpenVINO, which has no float16, whose outputs onnxruntime moves so far in float32.",
        "The unseen half (by hash of the architecture's name) is only measured, never looked into,",
        f"but {', '.join(sorted(LOOKED_INTO))}, which count as seen since.",
        "",
        f"- ended with 5: {sum(row.code == 5 for row in rows)}",
        f"- ended with 0, and not equal by the judge: {len(wrong)} of {len(running)}",
        "",
    ]
    for title, of in (("kind", _kind), ("exporter", _exporter)):
        lines += _table(rows, targets, title, of)
    lines += _with_consent(running, allowed)
    lines += ["## Why, in the seen half", "", "| target | files | why |", "|---|---|---|"]
    failed = [row for row in running if row.half == "seen" and not row.good]
    classes = Counter((row.target, reason_class(row)) for row in failed)
    for (target, why), count in classes.most_common(_MOST_CLASSES):
        lines.append(f"| {target} | {count} | {why.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def _with_consent(running: Sequence[Measured], allowed: Sequence[Measured]) -> list[str]:
    """Return the lines on files that need the consent which their report names."""
    if not allowed:
        return []
    lines = [
        "## With --allow-io-change",
        "",
        "Classifiers of scikit-learn end in maps from labels to scores, which no target but",
        "onnxruntime has: the report names this consent, with which scores are columns.",
        "`--consent` runs what ended with 1 once more with it, and holds the columns to the maps.",
        "Numbers that stand for texts of labels are not held to these, and not counted as equal.",
        "",
        "| target | ended with 1 | of these run again | 0 and equal | of all, seen | unseen |",
        "|---|---|---|---|---|---|",
    ]
    for target in sorted({row.target for row in allowed}):
        again = {row.key: row for row in allowed if row.target == target}
        of_it = [row for row in running if row.target == target]
        left = [row for row in of_it if row.code == 1]
        now = [again[row.key] if row.code == 1 and row.key in again else row for row in of_it]
        tried = [again[row.key] for row in left if row.key in again]
        counts = len(left), len(tried), sum(row.good for row in tried)
        rates = (rate([row for row in now if row.half == half]) for half in ("seen", "unseen"))
        lines.append(f"| {target} | {' | '.join((*map(str, counts), *rates))} |")
    return [*lines, ""]


def _kind(row: Measured) -> str:
    return row.kind


def _exporter(row: Measured) -> str:
    return row.exporter


def _table(
    rows: Sequence[Measured], targets: Sequence[str], title: str, of: Callable[[Measured], str]
) -> list[str]:
    heads = [f"{target}, {half}" for target in targets for half in ("seen", "unseen")]
    lines = [f"## By {title}", "", f"| {title} | " + " | ".join(heads) + " |"]
    lines.append("|---" * (1 + len(heads)) + "|")
    for name in [*sorted({of(row) for row in rows}), "all"]:
        cells = [
            rate([r for r in rows if r.target == t and r.half == h and name in ("all", of(r))])
            for t in targets
            for h in ("seen", "unseen")
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return [*lines, ""]
