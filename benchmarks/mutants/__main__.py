"""Make passes wrong on purpose, and count what the certificates catch.

    python -m benchmarks.mutants [--only mod-elimination,...] [--most 40] [--processes 2]
                                 [--keep FILE.json] [-o FILE]
    python -m benchmarks.mutants --from FILE.json      # writes the table of an earlier run

`mutating.py` changes the syntax tree of a pass in one place that the examples run. The variant
takes the place of the pass in a child process with limits of time and memory, and is run on the
examples of `examples/`, first without certificates: the result is judged by
`judge.py`, which shares no code with graphfix. A mutant counts when the judge sees a
difference above the tolerance that certificates state. It is then run with certificates, and is
caught when on every example that came out wrong the site was rolled back. A mutant that raises,
refuses, gives an invalid model, or the same one, does not count.

The right passes are tried first: there the judge and the certificates have to find nothing.

Writes `results/mutants.md` and ends with 1 where fewer than 98% are caught, fewer than 400 count
over at least 15 passes or fewer than 80 of `sizes.py`, or something is wrong with an example.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import resource
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

# Before numpy is imported: a forked child must not inherit a pool of threads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks import RESULTS, ROOT
from benchmarks.children import call_in_child
from benchmarks.mutants.changes import Point, changed, chosen, points, within_functions
from benchmarks.mutants.examples import lowering
from benchmarks.mutants.table import Found, Row, page, verdict
from benchmarks.mutants.trial import (
    baseline,
    certify_in_this_process,
    install,
    roots_of,
    sources_of,
    tried,
)
from graphfix.api import run
from graphfix.authoring.registry import all_passes

FAMILIES = sorted(
    path.stem
    for path in (ROOT / "benchmarks" / "mutants" / "examples").glob("*.py")
    if path.stem not in ("__init__", "example")
)
MOST, MOST_COUNTED = 100, 30
SECONDS = 90
_GIB = 1024**3


def main() -> int:
    """Make, run and count the mutants."""
    parser = argparse.ArgumentParser(description="see the head of this file")
    parser.add_argument("--only", default="", help="passes, separated by commas")
    parser.add_argument("--most", type=int, default=MOST, help="mutants of one pass")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--kind", default="", help="one kind of change alone")
    parser.add_argument("--processes", type=int, default=1, help="families of examples at a time")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "mutants.md")
    parser.add_argument("--examples", action="store_true", help="try the right passes alone")
    parser.add_argument("--keep", type=Path, help="a file for everything that was seen, as JSON")
    parser.add_argument("--from", dest="earlier", type=Path, help="what an earlier run kept")
    given = parser.parse_args()
    if given.earlier:
        found = Found.of(json.loads(given.earlier.read_text(encoding="utf-8")))
    else:
        most = 0 if given.examples else given.most
        found = _made(given.only, most, given.seed, given.processes, given.kind)
    if given.keep:
        given.keep.write_text(json.dumps(found.as_dict(), indent=1), encoding="utf-8")
    chosen = f' --kind "{given.kind}"' if given.kind else ""
    chosen += f" --only {given.only}" if given.only else ""
    given.output.write_text(page(found, chosen), encoding="utf-8")
    return 0 if given.only or given.kind or verdict(found) else 1


def _made(only: str, most: int, seed: int, processes: int, kind: str) -> Found:
    for module in ("graphfix", "onnxruntime", "graphfix.proving.tasks"):
        import_module(module)
    all_passes(())
    # What a first run imports and reads is there for every child.
    warm = lowering.EXAMPLES[0]
    run(warm.model(warm.types[0]), verify="off", **warm.arguments)
    by_unit: dict[str, list[tuple[str, Any]]] = {}
    for family in FAMILIES:
        examples = import_module(f"benchmarks.mutants.examples.{family}").EXAMPLES
        for number, example in enumerate(examples):
            by_unit.setdefault(example.unit, []).append((f"{family} {number}", example))
    families: dict[str, list[tuple[str, list[tuple[str, Any]]]]] = {}
    for unit, examples in by_unit.items():
        if not only or unit in only.split(","):
            families.setdefault(_family(examples), []).append((unit, examples))
    found = Found([], [], 0.0, most)
    # Forked before any thread runs: the workers start with everything imported.
    with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
        running = [pool.submit(_of_family, units, most, seed, kind) for units in families.values()]
        for future in running:
            rows, faults = future.result()
            found.rows.extend(rows)
            found.faults.extend(faults)
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    found.cpu = sum(u.ru_utime + u.ru_stime for u in usage)
    return found


def _family(examples: list[tuple[str, Any]]) -> str:
    return str(examples[0][0].split()[0])


def _of_family(
    units: list[tuple[str, list[tuple[str, Any]]]], most: int, seed: int, kind: str
) -> tuple[list[Row], list[str]]:
    """Make the mutants of passes that share files, none of them twice."""
    found: list[Row] = []
    wrong: list[str] = []
    done: set[tuple[str, tuple[int, int]]] = set()
    for unit, examples in units:
        began = time.monotonic()
        rows, faults = _unit(unit, examples, most, seed, done, kind)
        found.extend(rows)
        wrong.extend(faults)
        counted = [row for row in rows if row.counts]
        print(
            f"{unit}: {len(rows)} made, {len(counted)} count, "
            f"{sum(row.caught for row in counted)} caught, {time.monotonic() - began:.0f} s",
            flush=True,
        )
        for fault in faults:
            print("  FAULT", fault, flush=True)
    return found, wrong


def _unit(
    unit: str, examples: list[tuple[str, Any]], most: int, seed: int, done: set[Any], kind: str
) -> tuple[list[Row], list[str]]:
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)

        def prepared() -> int:
            certify_in_this_process()
            (folder / "ready").write_bytes(pickle.dumps(baseline(unit, examples)))
            return 0

        ended = call_in_child(prepared, folder, timeout=300, memory_bytes=8 * _GIB)
        if not (folder / "ready").exists():
            return [], [f"{unit}: the right pass: exit {ended.code} {ended.stderr[-300:]}"]
        ready, lines, faults = pickle.loads((folder / "ready").read_bytes())
    sources = sources_of(unit)
    family = _family(examples)
    fresh = [
        p
        for p in points(sources, roots_of(unit))
        if (family + p.file, p.place) not in done
        and _runs(p, sources[p.file], lines)
        and kind in ("", p.kind)
    ]
    rows: list[Row] = []
    for point in chosen(fresh, most, seed):
        if sum(row.counts for row in rows) == MOST_COUNTED:
            break
        done.add((family + point.file, point.place))
        variant = {**sources, point.file: changed(sources[point.file], point.place)}
        rows.append(Row(unit, point, _seen(unit, variant, ready)))
    return rows, faults


def _runs(point: Point, source: str, lines: dict[str, set[int]]) -> bool:
    """Say whether any example runs what is changed; elsewhere a change is none."""
    span = set(range(point.lines[0], point.lines[1] + 1))
    if not span & within_functions(source):
        return True
    return bool(span & lines.get(point.file, set()))


def _seen(unit: str, variant: dict[str, str], ready: list[Any]) -> list[dict[str, Any]]:
    """Return what a variant did to each example; one entry for a child that died."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        result = folder / "seen.json"

        def child() -> int:
            try:
                install(unit, variant, folder)
            except Exception as error:
                seen = [{"example": "", "status": "raised", "text": f"on import: {error}"}]
            else:
                certify_in_this_process()
                seen = tried(ready)
            result.write_text(json.dumps(seen), encoding="utf-8")
            return 0

        ended = call_in_child(child, folder, timeout=SECONDS, memory_bytes=8 * _GIB)
        if result.exists():
            found: list[dict[str, Any]] = json.loads(result.read_text(encoding="utf-8"))
            return found
        why = "took too long" if ended.timed_out else f"exit {ended.code}: {ended.stderr[-200:]}"
        return [{"example": "", "status": "died", "text": why}]


if __name__ == "__main__":
    sys.exit(main())
