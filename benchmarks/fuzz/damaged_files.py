"""Fuzz the command line with damaged files, and with files that were made to bring it down.

    python -m benchmarks.fuzz.damaged_files [--count 20000] [--first 0] [--jobs 1] [--seconds S]

File N is made from the seed N alone: a fixture, a random model or a bomb of `bombs.py`,
changed by `fuzz_mutations.py`; the first are the bombs and traps themselves. Each goes through the
real entry point, forked from a process that has imported everything, with its default limits. Of
each is asked: no exit code but 0 to 4, no traceback, at most 20 s, at most 2,048 MB held by all its
processes, no file left, no result but on 0 and 1. One that compares gives a file what its shapes
ask for, up to a bound of its own: 53 s and 4,864 MB.

Rows are kept in `--rows` (JSON lines) and a further run continues after them; `--again` runs those
once more that failed. What fails is kept in `--keep`. Writes `results/fuzz-bytes.md` and ends with
1 where something must not be.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from benchmarks import RESULTS, ROOT
from benchmarks.fuzz.bombs import bombs
from benchmarks.fuzz.models import make_model
from benchmarks.fuzz.mutations import MAX_BYTES, mutated
from benchmarks.fuzz.traps import traps
from benchmarks.fuzz.trial import Allowed, trial, warm_up

JOBS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("check trt8", ("check", "{}", "--target", "trt8")),
    ("inspect", ("inspect", "{}")),
    ("run trt8", ("run", "{}", "--target", "trt8", "--verify", "off", "-o", "out.onnx")),
    ("check trt10.0", ("check", "{}", "--target", "trt10.0")),
    ("run opset 11", ("run", "{}", "--opset", "11", "--verify", "off", "-o", "out.onnx")),
    ("inspect --reach", ("inspect", "{}", "--reach")),
    ("run trt7.0", ("run", "{}", "--target", "trt7.0", "--verify", "off", "-o", "out.onnx")),
    ("run opset 21", ("run", "{}", "--opset", "21", "--verify", "off", "-o", "out.onnx")),
    ("run ort-1.10", ("run", "{}", "--target", "ort-1.10", "--verify", "off", "-o", "out.onnx")),
)
VERIFIED = ("run trt8, verified", ("run", "{}", "--target", "trt8", "-o", "out.onnx"))
VERIFIED_EVERY = 20
_PLAIN, _COMPARING = Allowed(), Allowed.comparing()


@contextmanager
def _scratch() -> Generator[str]:
    """Give a folder; TemporaryDirectory would be removed by each forked child at its end."""
    folder = tempfile.mkdtemp(prefix="fuzz-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@cache
def seeds() -> list[bytes]:
    """Return what is changed: fixtures, random models, bombs."""
    found = [p.read_bytes() for p in sorted((ROOT / "fixtures").glob("*.onnx"))]
    found = [raw for raw in found if len(raw) <= MAX_BYTES // 4]
    for number in range(60):
        try:
            found.append(make_model(number)[0].SerializeToString(deterministic=True))
        except Exception:  # some numbers give no model
            continue
    made = [make() for make in bombs().values()]
    return found + [raw for raw in made if len(raw) <= MAX_BYTES // 16]


def file_of(number: int) -> tuple[str, bytes]:
    """Return how file `number` came to be, and its bytes; the same for a number every time."""
    made = bombs()
    if number < len(made):
        name = list(made)[number]
        return f"bomb {name}", made[name]()[:MAX_BYTES]
    rng = Random(number)
    raw, other = rng.choice(seeds()), rng.choice(seeds())
    return mutated(rng, raw, other)


def job_of(number: int) -> tuple[str, tuple[str, ...]]:
    """Return what is done with file `number`."""
    return VERIFIED if number % VERIFIED_EVERY == VERIFIED_EVERY - 1 else JOBS[number % len(JOBS)]


def allowed_of(job: str) -> Allowed:
    """Return what a command may take."""
    return _COMPARING if job == VERIFIED[0] else _PLAIN


def _over(which: str, job: Allowed) -> dict[str, Callable[[dict[str, Any]], bool]]:
    """Return the tests of time and memory for the commands that are allowed the same."""
    return {
        f"over {job.seconds:g} s{which}": lambda row: (
            allowed_of(row["job"]) == job and (row["late"] or row["seconds"] > job.seconds)
        ),
        f"over {job.megabytes:g} MB{which}": lambda row: (
            allowed_of(row["job"]) == job and row["megabytes"] > job.megabytes
        ),
    }


def examine(number: int, job: tuple[str, tuple[str, ...]], keep: Path | None) -> dict[str, Any]:
    """Put one file through one command and return the row of it."""
    what, raw = file_of(number)
    with _scratch() as scratch:
        folder = Path(scratch) / "files"
        folder.mkdir()
        path = folder / "m.onnx"
        path.write_bytes(raw)
        words = [word.replace("{}", "m.onnx") for word in job[1]]
        allowed = allowed_of(job[0])
        ended = trial(words, folder, folder / "out.onnx", allowed)
        faults = ended.faults(allowed)
        if faults and keep is not None:
            shutil.copy(path, keep / f"{number}.onnx")
    return {"number": number, "job": job[0], "made": what, "faults": faults, **ended.as_json()}


def trapped() -> Iterator[dict[str, Any]]:
    """Put what is no plain file through `check`, `inspect` and `run`."""
    with _scratch() as scratch:
        folder = Path(scratch) / "files"
        for place, path in enumerate(traps(folder)):
            for name, words in JOBS[:3]:
                out = folder / "out.onnx"
                given = [word.replace("{}", str(path)) for word in words]
                ended = trial(given, folder, out, _PLAIN)
                shutil.rmtree(folder.parent / "files.tmp")
                out.unlink(missing_ok=True)
                yield {
                    "number": -1 - place,
                    "job": name,
                    "made": f"trap {path.name}",
                    "faults": ended.faults(_PLAIN),
                    **ended.as_json(),
                }


_WRONG: dict[str, Callable[[dict[str, Any]], bool]] = {
    "exit 5": lambda row: row["code"] == 5,
    "another exit code than 0 to 5": lambda row: row["code"] not in range(6),
    "a traceback": lambda row: "Traceback" in row["said"],
    **_over("", _PLAIN),
    **_over(" in a comparison", _COMPARING),
    "a result on exit 2 to 5": lambda row: row["written"] and row["code"] not in (0, 1),
    "another file left": lambda row: bool(row["left"]),
}


def page(rows: list[dict[str, Any]]) -> str:
    """Return the table of all rows."""
    codes = sorted({row["code"] for row in rows})
    jobs = sorted({row["job"] for row in rows})
    counts = Counter((row["job"], row["code"]) for row in rows)
    wrong = [row for row in rows if row["faults"]]
    seconds = sorted(row["seconds"] for row in rows)
    numbers = [row["number"] for row in rows if row["number"] >= 0]
    commits = Counter(row.get("commit", "an earlier commit") for row in rows)
    lines = [
        "# Damaged and hostile files",
        "",
        f"{len(set(numbers))} files of at most 1 MB, of the seeds {min(numbers)} to "
        f"{max(numbers)}, "
        f"and {len({row['number'] for row in rows if row['number'] < 0})} that are no plain files; "
        "written by `benchmarks/fuzz/damaged_files.py`.",
        "Each command ran with its default limits; columns are exit codes. Seconds are those of "
        "the clock, less those in which a command stood in line for a processor.",
        "Rows by the commit that they were run on: "
        + ", ".join(f"{count} on {name}" for name, count in commits.most_common())
        + ".",
        "",
        "| command | " + " | ".join(map(str, codes)) + " |",
        "|---" * (len(codes) + 1) + "|",
    ]
    lines += [f"| {j} | " + " | ".join(str(counts[j, c]) for c in codes) + " |" for j in jobs]
    lines += [
        "",
        "| what must not be | files |",
        "|---|---|",
        *(f"| {what} | {sum(test(row) for row in rows)} |" for what, test in _WRONG.items()),
        "",
        f"Half took less than {seconds[len(seconds) // 2]:g} s, all but 1% less than "
        f"{seconds[len(seconds) * 99 // 100]:g} s, the longest {seconds[-1]:g} s; the most memory "
        f"was {max(row['megabytes'] for row in rows):g} MB. "
        f"{sum(row['megabytes'] > _PLAIN.megabytes for row in rows)} held more than "
        f"{_PLAIN.megabytes:g} MB, because their shapes ask for it.",
    ]
    for row in wrong[:40]:
        said = row["said"].strip().splitlines()[-1:] or [""]
        text = (
            f"{row['number']} {row['job']} ({row['made']}): {', '.join(row['faults'])}: {said[0]}"
        )
        lines.append(f"- {text[:300]}".replace("|", "/"))
    return "\n".join(lines) + "\n"


def main() -> int:
    """Fuzz, keep the rows, write the table."""
    parser = argparse.ArgumentParser(description="see the head of this file")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "fuzz-bytes.md")
    given = parser.parse_args()
    if given.keep:
        given.keep.mkdir(parents=True, exist_ok=True)
    warm_up()
    seeds()
    rows: list[dict[str, Any]] = []
    if given.rows and given.rows.exists():
        rows = [json.loads(line) for line in given.rows.read_text(encoding="utf-8").splitlines()]
    if given.again:
        rows = [row for row in rows if not row["faults"]]
        _write(rows, given.rows)
    done = {row["number"] for row in rows}
    stop = time.monotonic() + given.seconds

    def one(number: int) -> dict[str, Any] | None:
        late = time.monotonic() > stop
        return None if late else examine(number, job_of(number), given.keep)

    wanted = [n for n in range(given.first, given.first + given.count) if n not in done]
    if given.first == 0 and not any(number < 0 for number in done):
        for row in trapped():
            _note(row, rows, given.rows)
    with ThreadPoolExecutor(given.jobs) as pool:
        for fresh in pool.map(one, wanted):
            if fresh is not None:
                _note(fresh, rows, given.rows)
    given.output.write_text(page(rows), encoding="utf-8")
    print(given.output.read_text(encoding="utf-8"))
    return 1 if any(row["faults"] for row in rows) else 0


def _write(rows: list[dict[str, Any]], path: Path) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@cache
def _commit() -> str:
    """Return the commit that is run, and whether files were changed since."""
    said = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, check=False
    )
    return said.stdout.decode().strip() or "no commit"


def _note(row: dict[str, Any], rows: list[dict[str, Any]], path: Path | None) -> None:
    row["commit"] = _commit()
    rows.append(row)
    if path is not None:
        with path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")
    if row["faults"]:
        said = row["said"].strip().splitlines()[-1:] or [""]
        print(f"{row['number']} {row['job']} {row['made']}: {row['faults']} {said[0]}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
