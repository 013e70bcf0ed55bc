"""What 100,000 models cost: drawn from what was measured, and the book-keeping measured alone."""

from __future__ import annotations

import heapq
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.fleet.sweep import rows
from graphfix.batch.batch import Request, run_fleet
from graphfix.batch.jobs import Job, Row
from graphfix.batch.ledger import NAME
from graphfix.batch.sources import sources
from graphfix.rendering.fleet_text import fleet_text
from graphfix.rendering.html.fleet_page import fleet_page
from graphfix.rendering.html.page import rendered
from graphfix.rendering.style import PLAIN

WORKERS = (2, 16, 64, 256)


class _DoneAtOnce:
    """A crew that gives measured rows without doing anything."""

    def __init__(self, measured: list[Row]) -> None:
        self._measured = measured

    def rows(self, jobs: Iterator[Job]) -> Iterator[Row]:
        """Walk rows that were measured, as those of other models."""
        for job, row in zip(jobs, cycle(self._measured), strict=False):
            yield msgspec.structs.replace(
                row, key=job.key, name=job.name, model=job.model, target=job.target, output=""
            )


def simulate(work: Path, models: int, kept: int, seed: int = 16) -> dict[str, Any]:
    """Return hours of any number of workers, and what the book-keeping takes.

    Args:
        work: The folder of the sweep, whose rows are drawn from.
        models: How many models the fleet has, each for one target.
        kept: For how many of them the book-keeping is measured; the rest is in proportion.
        seed: For the draws.
    """
    measured = [msgspec.convert(row, Row, strict=False) for row in rows(work)]
    chance = random.Random(seed)
    drawn = [chance.choice(measured).seconds for _ in range(models)]
    return {
        "models": models,
        "rows": len(measured),
        "mean": sum(row.seconds for row in measured) / len(measured),
        "hours": {str(count): makespan(drawn, count) / 3600 for count in WORKERS},
        "worker_hours": sum(drawn) / 3600,
        "kept": _book_keeping(measured, kept),
    }


def makespan(seconds: list[float], count: int) -> float:
    """Return when the last of some workers is done, each of which takes the next job when free."""
    free = [0.0] * count
    for each in seconds:
        heapq.heapreplace(free, free[0] + each)
    return max(free)


def _book_keeping(measured: list[Row], count: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        nets = Path(name, "nets")
        nets.mkdir()
        model = Path(name, "model")
        model.write_bytes(b"x" * 1000)
        for number in range(count):
            (nets / f"net{number}.onnx").symlink_to(model)
        start = time.perf_counter()
        out = Path(name, "out")
        request = Request(sources([str(nets)]), ("trt8.6",), str(out), out)
        listed = time.perf_counter()
        fleet = run_fleet(request, _DoneAtOnce(measured), lambda _row, _made, _of: None)
        first = time.perf_counter()
        again = run_fleet(request, _DoneAtOnce(measured), lambda _row, _made, _of: None)
        resumed = time.perf_counter()
        text, page = fleet_text(again, PLAIN), rendered(fleet_page(again))
        return {
            "models": count,
            "made": [fleet.made, again.made],
            "list_s": listed - start,
            "rows_s": first - listed,
            "resume_s": resumed - first,
            "views_s": time.perf_counter() - resumed,
            "ledger_bytes": (out / NAME).stat().st_size,
            "text_bytes": len(text),
            "page_bytes": len(page),
            "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
