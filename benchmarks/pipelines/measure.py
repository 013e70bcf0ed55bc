"""Repair files of exporters and tools for targets, and judge the results in onnxruntime alone.

    python -m benchmarks.pipelines.measure FOLDER --target T [T ...] [--rows ROWS.tsv]
        [--environments ENVIRONMENTS] [--share P] [--kind K ...] [--exporter E ...] [--half H]
        [--each N] [--seconds S] [--consent] [-o PAGE.md]

FOLDER is what `benchmarks.pipelines.generate` wrote. ROWS takes a row for each file and target; a
further run continues after them. Files are taken in the order of a hash of their names, so that
what is done is a sample of all; P is the share to do, N how many at most of each kind and exporter,
of those that no row says onnxruntime cannot run. With `--consent` what ended with 1 is run once
more with `--allow-io-change`; these rows go next to ROWS (`ROWS-consent.tsv`). With ENVIRONMENTS
the results for OpenVINO and onnxruntime 1.16 run in these engines. After S seconds no file is
begun, and the page is of what is done (3). Ends with 1 where a run ended with 5 or by a signal.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import RESULTS
from benchmarks.ended import FAULT
from benchmarks.pipelines.callers import Caller
from benchmarks.pipelines.catalogue import HERE, drawn, half, parted
from benchmarks.pipelines.environments import python_of
from benchmarks.pipelines.measured import HEADER, Measured, measured_row, page, read_rows, row_line
from benchmarks.pipelines.row import run_file

_UNFINISHED = 3
_JUDGE_SECONDS, _JUDGE_GIB = 120.0, 8.0
_DONE = 0


# Where results for a target run in its own engine: the environment that has it, and its name.
ENGINES = {"openvino": ("openvino", "openvino"), "ort-1.16": ("ort-1.16", "onnxruntime")}


def engine_of(target: str, environments: Path | None) -> tuple[str, ...]:
    """Return the Python and the engine for the results for a target, or nothing."""
    if environments is None or target not in ENGINES:
        return ()
    environment, engine = ENGINES[target]
    python = python_of(environments.resolve(), environment)
    return (str(python), engine) if python.exists() else ()


def measured(
    path: Path,
    name: str,
    target: str,
    patience: float,
    judge: Caller,
    engine: Sequence[str],
    options: Sequence[str] = (),
) -> Measured:
    """Repair a file and judge what was written."""
    with tempfile.TemporaryDirectory(prefix="measured-") as scratch:
        out, answer = Path(scratch) / "out.onnx", Path(scratch) / "answer.json"
        row = run_file(path, name, target, options, patience, out=out)
        result = str(out) if row.code == _DONE and out.is_file() else ""
        why = judge.call([str(path), result, str(answer), *engine])
        said: dict[str, Any] = json.loads(answer.read_bytes()) if answer.is_file() else {}
    return measured_row(
        name,
        target,
        said or {"reason": why},
        code=row.code,
        verification=row.verification,
        seconds=row.cpu,
        reason=row.reason,
    )


def main(words: Sequence[str]) -> int:
    """Run the benchmark; return its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", nargs="+", required=True)
    parser.add_argument("--rows", type=Path, default=RESULTS / "pipelines.tsv")
    parser.add_argument("--environments", type=Path, help="for the engines of some targets")
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--kind", nargs="*")
    parser.add_argument("--exporter", nargs="*")
    parser.add_argument("--half", choices=("seen", "unseen"))
    parser.add_argument("--each", type=int, help="the first of each kind and exporter alone")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after these")
    parser.add_argument("--patience", type=float, default=300.0, help="seconds for one file")
    parser.add_argument("--consent", action="store_true", help="what ended with 1, with consent")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "pipelines.md")
    given = parser.parse_args(words)
    until = time.monotonic() + given.seconds
    root: Path = given.folder.resolve()
    names = sorted(
        (path.relative_to(root).as_posix() for path in root.glob("*/*/*.onnx")), key=drawn
    )
    rows = read_rows(given.rows)
    allowed_at = given.rows.with_name(f"{given.rows.stem}-consent.tsv")
    allowed = read_rows(allowed_at)
    first = _first_of_each(names, given.half, given.each, rows)
    into, kept, options = (
        (allowed, allowed_at, ("--allow-io-change",)) if given.consent else (rows, given.rows, ())
    )
    done = {row.key for row in into}
    left = {row.key for row in rows if row.runs and row.code == 1}
    stopped = False
    with Caller(Path(sys.executable), HERE / "judging.py", _JUDGE_SECONDS, _JUDGE_GIB) as judge:
        for name in names:
            kind, exporter, architecture = parted(name)
            if drawn(name) > given.share or (given.half and half(architecture) != given.half):
                continue
            if first is not None and name not in first:
                continue
            if kind not in (given.kind or [kind]) or exporter not in (given.exporter or [exporter]):
                continue
            for target in given.target:
                key = target, name.removesuffix(".onnx")
                if key in done or (given.consent and key not in left):
                    continue
                stopped = stopped or time.monotonic() > until
                if stopped:
                    break
                row = measured(
                    root / name,
                    name,
                    target,
                    given.patience,
                    judge,
                    engine_of(target, given.environments),
                    options,
                )
                into.append(row)
                append_row(kept, row)
                shown = row.reason if row.half == "seen" else "(of the unseen half)"
                print(
                    f"{row.code} {row.judged} {row.seconds:.1f} s {target} {name} {shown}",
                    flush=True,
                )
    given.output.write_text(page(rows, len(names), allowed), encoding="utf-8")
    faults = [row for row in (*rows, *allowed) if row.code == FAULT or row.code < 0]
    for row in faults:
        print(
            f"{row.target} {row.kind}/{row.exporter}/{row.file}: exit {row.code}", file=sys.stderr
        )
    return _UNFINISHED if stopped else int(bool(faults))


def _first_of_each(
    names: Sequence[str], side: str | None, most: int | None, rows: Sequence[Measured]
) -> set[str] | None:
    """Return the first names of each kind and exporter, or None for all."""
    if most is None:
        return None
    idle = {row.key[1] for row in rows if not row.runs}
    found: dict[tuple[str, str], list[str]] = {}
    for name in names:
        kind, exporter, architecture = parted(name)
        of_both = found.setdefault((kind, exporter), [])
        if side in (None, half(architecture)) and name.removesuffix(".onnx") not in idle:
            of_both.append(name)
    return {name for all_of in found.values() for name in all_of[:most]}


def append_row(path: Path, row: Measured) -> None:
    """Add a line for a row."""
    fresh = not path.is_file()
    with path.open("a", encoding="utf-8") as stream:
        stream.write(f"{HEADER}\n" if fresh else "")
        stream.write(f"{row_line(row)}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
