"""Run every model of a folder through `graphfix run` and write a table of what became of them.

    python -m benchmarks.corpus FOLDER --target T [--jobs 2] [--limit N] [--pattern P]
        [--running] [--rows ROWS.jsonl] [--seconds S] [-o OUT.md]

Models are the `*.onnx` below FOLDER; an `.npz` next to a model (`in_*`, `out_*`) is compared with
what the repaired model computes. `index.json` and `verdicts.json` in FOLDER are used where they
are there. Words after `--` go to `graphfix run` as they are. ROWS takes a line for each model that
is done: with it a sweep continues where it was stopped; after S seconds it begins no further model,
and writes no table (3). Ends with 1 when a run ended in a traceback, in exit code 2 or 5 or by a
signal, when a verified mismatch was written, or when the results of a repaired model differ from
the stored ones or it no longer runs.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import multiprocessing
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from msgspec import convert

if __name__ == "__main__":  # who imports this keeps the environment as it is
    # Before numpy is imported: a forked child must not inherit a pool of threads.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks import RESULTS
from benchmarks.children import graphfix_main
from benchmarks.corpus.acceptance import verdicts_of
from benchmarks.corpus.row import Job, Row, run_job
from benchmarks.corpus.table import summary, table
from benchmarks.ended import FAULT
from graphfix.ir.version import __version__

_VERSIONED = ("graphfix", "onnx", "onnxruntime", "onnx-graphsurgeon", "onnxsim", "numpy")
_GIB = 1024**3
_UNFINISHED = 3


def arguments(words: Sequence[str]) -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=int, help="run only the first N models")
    parser.add_argument("--pattern", default="*", help="which models, such as '*mod_*'")
    parser.add_argument(
        "--running", action="store_true", help="only what onnxruntime runs as it is (verdicts.json)"
    )
    parser.add_argument("--rows", type=Path, help="keep what is done there, and go on from it")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after these")
    parser.add_argument("-o", "--output", type=Path, help="default: results/corpus-TARGET.md")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one model")
    parser.add_argument("--memory-gib", type=float, default=12, help="address space of a process")
    parser.add_argument("options", nargs="*", help="after `--`: for `graphfix run`")
    return parser.parse_args(words)


def jobs_of(given: argparse.Namespace) -> list[Job]:
    """Return a job for each model that was asked for, in the order of their paths."""
    root = given.folder.resolve()
    root = root / "open" if (root / "open").is_dir() else root
    index: dict[str, Any] = {entry["file"]: entry for entry in _read_json(root / "index.json", [])}
    verdicts = verdicts_of(root)
    found: list[Job] = []
    for path in sorted(root.rglob("*.onnx")):
        file = path.relative_to(root).as_posix()
        if not fnmatch.fnmatch(file, given.pattern):
            continue
        if given.running and not verdicts.get(file, {}).get("runs"):
            continue
        references = path.with_suffix(".npz")
        against = _said_of(index, file).get("match") is False
        found.append(
            Job(
                file=file,
                path=path,
                target=given.target,
                references=references if references.exists() else None,
                against_original=against,
                options=tuple(given.options),
                timeout=given.timeout,
                memory_bytes=int(given.memory_gib * _GIB),
            )
        )
    return found[: given.limit]


def _said_of(index: dict[str, Any], file: str) -> dict[str, Any]:
    """Return what the index says of a model's results next to those of PyTorch."""
    return index.get(file, {}).get("vs_torch") or {}


def _read_json(path: Path, missing: Any) -> Any:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else missing


def kept(rows: Path | None) -> dict[str, Row]:
    """Return the rows of the models that an earlier sweep has done."""
    lines = rows.read_text(encoding="utf-8").splitlines() if rows and rows.exists() else ()
    found = (convert(json.loads(line), Row) for line in lines)
    return {row.file: row for row in found}


def sweep(
    jobs: Sequence[Job],
    workers: int,
    main: Callable[[Sequence[str]], int],
    *,
    rows: Path | None = None,
    seconds: float = float("inf"),
) -> list[Row]:
    """Run the jobs, telling of each on stderr, and return their rows in the order of the jobs.

    Args:
        jobs: What is to be done.
        workers: How many at once.
        main: The command line.
        rows: Keeps what is done; what it has is not done again.
        seconds: After these no further job is begun; its row is missing then.
    """
    done = kept(rows)
    until = time.monotonic() + seconds
    # Forked workers that fork once per model: the imports above are paid once. Not
    # multiprocessing.Pool, whose workers may not have children that use multiprocessing.
    forked = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(workers, mp_context=forked) as pool:
        left = [job for job in jobs if job.file not in done]
        running = [pool.submit(partial(_run_until, until, job, main)) for job in left]
        for future in as_completed(running):
            row = future.result()
            if row is None:
                continue
            done[row.file] = row
            if rows is not None:
                with rows.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(asdict(row)) + "\n")
            state = f"exit {row.code} {row.verification} {row.reference}".rstrip()
            print(
                f"[{len(done)}/{len(jobs)}] {row.file}: {len(row.before)} -> {len(row.after)}, "
                f"{state}, {row.seconds:.1f} s",
                file=sys.stderr,
                flush=True,
            )
    return [done[job.file] for job in jobs if job.file in done]


def _run_until(until: float, job: Job, main: Callable[[Sequence[str]], int]) -> Row | None:
    return run_job(job, main) if time.monotonic() < until else None


def is_bad(row: Row) -> bool:
    """Say whether a row must not be there in a release."""
    return (
        row.traceback
        or row.code in (2, FAULT, 70)
        or row.code < 0
        or (row.written and row.verification == "mismatch")
        or row.reference in ("mismatch", "does not run")
    )


def main(words: Sequence[str]) -> int:
    """Run the sweep; see the module."""
    given = arguments(words)
    jobs = jobs_of(given)
    if not jobs:
        print(f"no model below {given.folder} fits {given.pattern}", file=sys.stderr)
        return 2
    rows = sweep(jobs, given.jobs, graphfix_main(), rows=given.rows, seconds=given.seconds)
    if len(rows) < len(jobs):
        print(f"{len(rows)} of {len(jobs)} models are done", file=sys.stderr)
        return _UNFINISHED
    versions = ", ".join(f"{name} {_version(name)}" for name in _VERSIONED)
    text = table(
        rows,
        command=f"python -m benchmarks.corpus {' '.join(_said(words))}",
        versions=f"Python {platform.python_version()}, {versions}",
        verdicts=verdicts_of(given.folder),
    )
    output = given.output or RESULTS / f"corpus-{given.target}.md"
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text, encoding="utf-8")
    for name, value in summary(rows):
        print(f"{name}: {value}")
    print(f"written: {output}")
    return 1 if any(is_bad(row) for row in rows) else 0


def _said(words: Sequence[str]) -> list[str]:
    """Return the words that say what was measured: where rows are kept is no part of that."""
    said = list(words)
    while "--rows" in said:
        place = said.index("--rows")
        del said[place : place + 2]
    return said


def _version(name: str) -> str:
    if name == "graphfix":
        return __version__
    return metadata.version(name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
