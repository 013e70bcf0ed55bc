"""The whole corpus for two targets, in pieces that are killed, and whether that lost anything."""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.fleet.hostile import lay_out
from benchmarks.fleet.watching import watch

TARGETS = ("trt8", "ort-1.10")
LIMITS = ("--timeout", "60", "--max-memory", "3GiB")
KILLS = 10
GRAPHFIX = (sys.executable, "-m", "graphfix")


@dataclass(frozen=True, slots=True)
class Piece:
    """One start of the command, until it ended or was killed."""

    killed: bool
    code: int
    before: int
    made: int
    seconds: float
    jobs: int
    peak: int
    most: int
    crashed: int
    orphans: int


def listed(corpus: Path, work: Path) -> Path:
    """Write which models there are, hostile ones among them, and return the file."""
    models = sorted(corpus.rglob("*.onnx"))
    hostile = lay_out(work / "hostile")
    step = len(models) // len(hostile) or 1
    for number, path in enumerate(hostile):
        models.insert(number * (step + 1), path)
    found = work / "models.txt"
    found.write_text("".join(f"{path.resolve()}\n" for path in models), encoding="utf-8")
    return found


def piece(corpus: Path, work: Path, seconds: float, jobs: int) -> Piece:
    """Continue with the sweep, for some seconds at most, and take down what became of it.

    The first `KILLS` pieces are killed at a random moment; then one runs to its end.
    """
    work.mkdir(parents=True, exist_ok=True)
    past = pieces(work)
    kills = sum(each.killed for each in past)
    after = random.Random(time.time_ns()).uniform(seconds / 4, seconds)
    before = len(rows(work))
    words = [*GRAPHFIX, "batch", f"@{listed(corpus, work)}", "--target", ",".join(TARGETS)]
    words += ["--out", str(work / "out"), "--jobs", str(jobs), *LIMITS, "--json"]
    words += ["--report", str(work / "fleet.html")]
    limit = after if kills < KILLS else seconds
    seen = watch(words, work / "said.json", limit)
    made = Piece(
        killed=seen.code == -9,
        code=seen.code,
        before=before,
        made=len(rows(work)) - before,
        seconds=seen.seconds,
        jobs=jobs,
        peak=seen.peak,
        most=seen.most,
        crashed=seen.crashed,
        orphans=seen.orphans,
    )
    with (work / "pieces.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(made)) + "\n")
    return made


def pieces(work: Path) -> list[Piece]:
    """Return what was taken down of the pieces so far."""
    path = work / "pieces.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [Piece(**json.loads(line)) for line in lines]


def rows(work: Path) -> list[dict[str, Any]]:
    """Return the rows of the ledger that are whole, in the order in which they were written."""
    found: list[dict[str, Any]] = []
    path = work / "out" / "rows.jsonl"
    for line in path.read_bytes().splitlines() if path.exists() else ():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def twice(work: Path) -> int:
    """Return how many jobs have more than one row."""
    return sum(times > 1 for times in Counter(row["key"] for row in rows(work)).values())


def missing(corpus: Path, work: Path) -> int:
    """Return how many models have no row for a target."""
    models = listed(corpus, work).read_text(encoding="utf-8").splitlines()
    there = {(row["model"], row["target"]) for row in rows(work)}
    return len(models) * len(TARGETS) - len(there)
