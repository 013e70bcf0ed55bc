"""Repair and convert random graphs and families of operators, and judge the result.

    python -m benchmarks.differential [--models 3000] [--first 0] [--jobs 1] [--targets T ...]
        [--verify auto|off] [--rows FILE] [--keep FOLDER] [-o FILE]

A third of the models are random graphs, the others show one operator each in its forms, types and
parameters (`cases.py`). Each is repaired for each target, and converted to each opset,
with `graphfix.run` as users call it; the result is run next to the original in onnxruntime by a
judge that imports nothing of graphfix (`judge.py`, where the rule is). A difference
on a result with exit code 0 is a fault of graphfix, and so is any exception.

Rows are appended to `--rows`, so that a run that was stopped continues where it was. Each model has
its own process, with limits of time and memory. ``--verify off`` leaves the proof out: it is ten
times quicker and finds what passes do wrong, but exit code 0 promises less then.

Writes `results/differential.md` and ends with 1 when there is a difference or a fault.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import onnx

import graphfix
from benchmarks import RESULTS
from benchmarks.children import call_in_child
from benchmarks.differential.cases import Case, family, random_graph
from benchmarks.differential.exemptions import exemption, lost_body
from benchmarks.differential.judge import Judgement, judge, runs_once, samples_of
from benchmarks.differential.recipes import RECIPES
from benchmarks.differential.scope import Impossible
from benchmarks.differential.table import FAULTS, page
from graphfix.authoring.registry import all_passes
from graphfix.opset.adapting import adapters

TARGETS = ("trt7.0", "trt8.6", "trt10.10", "ort-1.10", "opset 17", "opset 11")
ORIGINAL_RUNS = "original-runs"  # a file that is there while onnxruntime runs the original
MEMORY, SECONDS = 3 * 1024**3, 400
Row = dict[str, Any]


def touched_operators() -> frozenset[str]:
    """Return the operators of the default domain that passes or steps between opsets match."""
    steps = adapters()
    matched = {op for p in all_passes(()) for domain, op in p.matches if domain == ""}
    return frozenset(matched | {op for op, _, _ in steps})


def _claims() -> dict[str, frozenset[str]]:
    return {p.id: p.claims for p in all_passes(())}


def make_case(index: int, touched: frozenset[str]) -> Case | None:
    """Return the model of a number, or None where none runs."""

    def runs(case: Case) -> bool:
        return runs_once(case.model, case.inputs)

    ops = sorted(RECIPES)
    try:
        if index % 3 == 0:
            return random_graph(index // 3, touched, runs)
        place = index - index // 3 - 1
        return family(ops[place % len(ops)], place // len(ops), runs)
    except Impossible:
        return None


def examine(index: int, targets: Sequence[str], verify: str, keep: Path | None) -> list[Row]:
    """Return one row for each target of one model."""
    touched = touched_operators()
    mark = Path(ORIGINAL_RUNS)
    mark.touch()
    case = make_case(index, touched)
    if case is None:
        return [{"index": index, "job": job, "status": "no model"} for job in targets]
    samples = samples_of(case.model, case.inputs)
    mark.unlink()
    nodes = [n.op_type for n in case.model.graph.node if n.op_type != "Constant"]
    about: Row = {
        "index": index,
        "verify": verify,
        "name": case.name,
        "samples": len(samples),
        "nodes": len(nodes),
        "touched": sum(op in touched for op in nodes),
    }
    rows: list[Row] = []
    for job in targets:
        start = time.process_time()
        row = {**about, "job": job, **_one(case, job, verify, samples)}
        row["seconds"] = round(time.process_time() - start, 2)
        rows.append(row)
        if keep is not None and row["status"] in FAULTS:
            onnx.save(case.model, keep / f"{index}.onnx")  # pyright: ignore[reportUnknownMemberType]
    return rows


def _one(case: Case, job: str, verify: str, samples: Sequence[Any]) -> Row:
    arguments: Row = {"opset": int(job[6:])} if job.startswith("opset ") else {"target": job}
    if verify != "auto":
        arguments["verify"] = verify
    try:
        result = graphfix.run(case.model, **arguments)
        after = result.model.to_proto()
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        return {"exit": -1, "status": "exception", "text": " ".join(text.split())[:400]}
    applied = [o for o in result.report.outcomes if o.status.value == "applied"]
    failed = [f"{o.pass_id}: {o.reason}"[:200] for o in result.report.outcomes
              if o.status.value == "failed"]  # fmt: skip
    row: Row = {"exit": result.exit_code, "passes": [o.pass_id for o in applied]}
    if failed:
        row["failed"] = failed
    if after == case.model:
        return {**row, "status": "unchanged"}
    approximate = any(s.accuracy.value != "exact" for o in applied for s in o.sites)
    found: Judgement = judge(case.model, after, samples, approximate=approximate)
    row |= {"status": found.status, "text": found.text, "kind": found.kind}
    if found.draw is not None:
        row["draw"] = [dict(found.draw.sizes), found.draw.turn]
    claims = _claims()
    claimed = all({"nan", "inf"} <= claims.get(o.pass_id, frozenset()) for o in applied)
    if (found.wild and not claimed) or (found.wide and approximate):
        row["status"] = "wild"
    elif reason := lost_body(case.model, after, found):
        row |= {"status": "exempt", "exemption": reason}
    elif found.status in ("differs", "raises"):
        sample = next(s for s in samples if s.draw == found.draw)
        reason = exemption(case.model, found, sample)
        if reason:
            row |= {"status": "exempt", "exemption": reason}
    return row


def _isolated(index: int, targets: Sequence[str], verify: str, keep: Path | None) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)

        def child() -> int:
            rows = examine(index, targets, verify, keep)
            (scratch / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
            return 0

        ended = call_in_child(child, scratch, timeout=SECONDS, memory_bytes=MEMORY)
        written = scratch / "rows.json"
        if written.exists():
            return list(json.loads(written.read_text(encoding="utf-8")))
        original = (scratch / ORIGINAL_RUNS).exists()
    if original and ended.code < 0 and not ended.timed_out:  # before graphfix has seen the model
        return [{"index": index, "job": job, "status": "no model"} for job in targets]
    why = "timeout" if ended.timed_out else f"exit {ended.code}"
    text = f"{why}: {ended.stderr[-300:]}"
    return [{"index": index, "job": job, "status": "crashed", "text": text} for job in targets]


def _work(indices: Sequence[int], given: argparse.Namespace, done: set[tuple[int, str]]) -> None:
    with given.rows.open("a", encoding="utf-8") as out:
        for index in indices:
            left = [job for job in given.targets if (index, job) not in done]
            if not left or time.monotonic() > given.end:
                continue
            rows = _isolated(index, left, given.verify, given.keep)
            out.write("".join(json.dumps(row) + "\n" for row in rows))
            out.flush()
            for row in rows:
                if row["status"] in FAULTS:
                    print(json.dumps(row)[:700], flush=True)


def read_rows(path: Path) -> list[Row]:
    """Return the rows written so far."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def main() -> int:
    """Judge the models and write the table."""
    parser = argparse.ArgumentParser(description="see the head of this file")
    parser.add_argument("--models", type=int, default=3000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--targets", nargs="+", default=list(TARGETS))
    parser.add_argument("--verify", choices=("auto", "off"), default="auto")
    parser.add_argument("--rows", type=Path, default=Path("differential.jsonl"))
    parser.add_argument("--keep", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "differential.md")
    given = parser.parse_args()
    given.rows, given.end = given.rows.resolve(), time.monotonic() + given.seconds
    if given.keep:
        given.keep = given.keep.resolve()
        given.keep.mkdir(parents=True, exist_ok=True)
    for module in ("graphfix.api", "graphfix.pipeline.finishing", "onnxruntime"):
        import_module(module)
    touched_operators()
    done = {(r["index"], r["job"]) for r in read_rows(given.rows)
            if r.get("verify", given.verify) == given.verify}  # fmt: skip
    indices = range(given.first, given.first + given.models)
    workers: list[int] = []
    for number in range(given.jobs):
        child = os.fork()
        if child == 0:
            _work(indices[number :: given.jobs], given, done)
            os._exit(0)
        workers.append(child)
    for child in workers:
        os.waitpid(child, 0)
    rows = [r for r in read_rows(given.rows) if r["job"] in given.targets and r["index"] in indices]
    given.output.write_text(page(rows, given.targets), encoding="utf-8")
    print(given.output.read_text(encoding="utf-8"))
    return int(any(r["status"] in FAULTS and r.get("exit", 0) != 1 for r in rows))


if __name__ == "__main__":
    sys.exit(main())
