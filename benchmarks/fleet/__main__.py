r"""`graphfix batch` over a corpus, with twenty files that crash, hang or want all memory.

    python -m benchmarks.fleet sweep CORPUS --work DIR [--seconds 400] [--jobs 2]
    python -m benchmarks.fleet singly CORPUS --work DIR [--sample 60] [--seconds 400]
    python -m benchmarks.fleet throughput CORPUS --work DIR [--sample 120]
    python -m benchmarks.fleet cache CORPUS --work DIR [--sample 60]
    python -m benchmarks.fleet dask CORPUS --work DIR [--sample 30]
    python -m benchmarks.fleet simulate CORPUS --work DIR [--sample 20000]
    python -m benchmarks.fleet page CORPUS --work DIR

`sweep` does all models for two targets in pieces: the first ten are killed at a random moment, the
others where they take longer than `--seconds`; call it until it says that nothing is missing.
`singly` runs `graphfix run` on a sample of its rows and compares. `throughput` does a sample with
one worker and with two, on a quiet machine; `cache` with proofs that are shared and without; `dask`
on a scheduler with two workers, of which one is killed (needs `pip install "graphfix[dask]"`).
`page` writes `results/fleet.md` of what the others left in DIR. Each ends with 1 where something is
not as it should be. Linux only.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks import RESULTS
from benchmarks.ended import code_with
from benchmarks.fleet import page, sample, simulation, singly, sweep

LEAST_RATIO = 1.7
SAMPLES = {"singly": 60, "throughput": 120, "cache": 60, "dask": 30, "simulate": 20_000}


def main() -> int:
    """Run a part of the benchmark; see the module."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("part", choices=["sweep", *SAMPLES, "page"])
    options.add_argument("corpus", type=Path)
    options.add_argument("--work", type=Path, required=True)
    options.add_argument("--sample", type=int)
    options.add_argument("--seconds", type=float, default=400.0)
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("-o", "--output", type=Path, default=RESULTS / "fleet.md")
    asked = options.parse_args()
    corpus, work = asked.corpus, asked.work
    if asked.part == "page":
        asked.output.write_text(page.text(corpus, work), encoding="utf-8")
        return code_with(row["exit"] for row in sweep.rows(work))
    if asked.part == "sweep":
        made = sweep.piece(corpus, work, asked.seconds, asked.jobs)
        twice = sweep.twice(work)
        print(made, "missing", sweep.missing(corpus, work), "twice", twice, flush=True)
        return int(made.orphans > 0 or twice > 0)
    found = _part(asked.part, corpus, work, asked.sample or SAMPLES[asked.part], asked.seconds)
    (work / f"{asked.part}.json").write_text(json.dumps(found), encoding="utf-8")
    print(json.dumps(found, indent=1))
    return int(_is_bad(asked.part, found))


def _part(part: str, corpus: Path, work: Path, count: int, seconds: float) -> dict[str, Any]:
    if part == "singly":
        return singly.compare(work, count, seconds)
    if part == "simulate":
        return simulation.simulate(work, 100_000, count)
    call = {"throughput": sample.throughput, "cache": sample.shared_proofs, "dask": sample.on_dask}
    return call[part](corpus, count, work)


def _is_bad(part: str, found: dict[str, Any]) -> bool:
    if part == "throughput":
        return found["ratio"] < LEAST_RATIO or not found["same"]
    if part == "dask":
        return bool(found["rows"] < found["models"] or found["twice"] or found["differ"])
    return bool(found.get("differ"))


if __name__ == "__main__":
    sys.exit(main())
