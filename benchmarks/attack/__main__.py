"""Attack graphfix with models made after reading its source; onnxruntime and PyTorch judge.

    python -m benchmarks.attack [--families F ...] [--each N] [--first K] [--rows FILE]
        [--keep FOLDER] [--seconds S] [--pytorch PYTHON] [-o FILE]

Each family (`families/`) goes for an assumption of the source: that sizes stay within a type, that
a stored value is constant, that a name stands for one tensor, that a default is the same in every
opset. Each of its models is repaired, converted or edited as the command line does it, and the
original and the result are run by a judge of its own (`judge.py`). Of a call of ATen, which no
runtime has, ``--pytorch`` computes what is right (`pytorch.py`).

A finding is exit code 0 and a result that differs, or that fails where the original runs; and exit
code 5 or an exception, whatever the result. Rows are appended to ``--rows``, so that a run that was
stopped continues where it was. Writes `results/attack.md` and ends with 1 when there is a finding.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx

import graphfix
from benchmarks import RESULTS
from benchmarks.attack.building import Case, Job
from benchmarks.attack.families import FAMILIES, aten
from benchmarks.attack.judge import Judge, Ruling
from benchmarks.attack.pytorch import PyTorch
from benchmarks.attack.table import FINDINGS, page
from graphfix import edits
from graphfix.authoring.registry import all_passes

SECONDS = 180
# What onnxruntime says where it has no kernel, or takes a stored value for one that stays.
OF_THE_RUNTIME = ("NOT_IMPLEMENTED", "op_kernel.cc:87")
Row = dict[str, Any]


def main() -> int:
    """Attack, and write the table."""
    parser = argparse.ArgumentParser(description="see the head of this file")
    parser.add_argument("--families", nargs="+", default=[*FAMILIES, "aten"])
    parser.add_argument("--each", type=int, default=10**9)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--rows", type=Path, default=Path("attack.jsonl"))
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--pytorch", help="a Python that has PyTorch, for the family aten")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "attack.md")
    given = parser.parse_args()
    if given.keep:
        given.keep.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + given.seconds
    done = {(r["family"], r["name"], r["job"]) for r in read_rows(given.rows)}
    judge = Judge()
    wanted = "aten" in given.families
    torch = PyTorch(given.pytorch) if given.pytorch and wanted else None
    if torch is None and wanted:
        print("aten: skipped; --pytorch names no Python that has PyTorch", flush=True)
    with given.rows.open("a", encoding="utf-8") as out:
        for case in _cases(given.families, given.first, given.each, torch):
            if time.monotonic() > end:
                break
            for job in case.jobs:
                if (case.family, case.name, job.name) in done:
                    continue
                row = examine(case, job, judge, torch)
                out.write(json.dumps(row) + "\n")
                out.flush()
                if row["status"] in FINDINGS:
                    print(json.dumps(row)[:600], flush=True)
                    if given.keep:
                        path = given.keep / f"{case.family}-{case.name}.onnx"
                        onnx.save(case.model, path)  # pyright: ignore[reportUnknownMemberType]
    judge.close()
    if torch is not None:
        torch.close()
    rows = [row for row in read_rows(given.rows) if row["family"] in given.families]
    given.output.write_text(page(rows, given.output), encoding="utf-8")
    return int(any(row["status"] in FINDINGS for row in rows))


def _cases(families: list[str], first: int, each: int, torch: PyTorch | None) -> Iterator[Case]:
    for family in families:
        made = aten.cases(torch) if family == "aten" else FAMILIES[family]()
        for place, case in enumerate(made):
            if place >= first + each:
                break
            if place >= first:
                yield case


def examine(case: Case, job: Job, judge: Judge, torch: PyTorch | None = None) -> Row:
    """Do what is asked with one model, and judge the result."""
    row: Row = {"family": case.family, "name": case.name, "job": job.name, "exit": -1}
    start = time.process_time()
    signal.signal(signal.SIGALRM, _stop)
    signal.alarm(SECONDS)
    try:
        after, about, loose = _done(case.model, job)
    except graphfix.InvalidModel as error:
        return {**row, "exit": 3, "status": "refused", "text": str(error)[:200]}
    except graphfix.UsageError as error:
        return {**row, "exit": 2, "status": "refused", "text": str(error)[:200]}
    except Exception as error:
        text = " ".join(f"{type(error).__name__}: {error}".split())
        return {**row, "status": "exception", "text": text[:400]}
    finally:
        signal.alarm(0)
    row |= about
    if row["exit"] == 5:
        return {**row, "status": "exception"}
    if row.pop("same"):
        return {**row, "status": "unchanged", "feeds": 0}
    if case.called is not None and torch is not None:
        wanted = torch.ask(case.called, case.feeds)
        rulings = judge.rule_against(wanted, after.SerializeToString(), case.feeds, loose=loose)
        return _finished(row, rulings, case, loose=loose, start=start)
    if job.how == "items":
        rulings = judge.rule_items(
            case.model.SerializeToString(),
            after.SerializeToString(),
            case.feeds,
            job.arguments.get("step", 1),
        )
        return _finished(row, rulings, case, loose=loose, start=start)
    places = range(len(case.feeds)) if job.only is None else job.only
    rulings = judge.rule(
        case.model.SerializeToString(),
        after.SerializeToString(),
        [case.feeds[place] for place in places],
        loose=loose,
        inputs=job.inputs,
        outputs=job.outputs,
    )
    return _finished(row, rulings, case, loose=loose, start=start)


def _finished(row: Row, rulings: list[Ruling], case: Case, *, loose: bool, start: float) -> Row:
    wild = case.undefined | (case.wide if loose else frozenset[int]())
    if not _stands_for_special(row["passes"]):
        wild |= case.special
    row |= _status(rulings, wild)
    row["seconds"] = round(time.process_time() - start, 2)
    if row["exit"] != 0 and row["status"] in FINDINGS:
        row["status"] = f"said {row['status']}"
    return row


def _stop(number: int, frame: object) -> None:
    raise TimeoutError(f"longer than {SECONDS} s")


def _done(model: onnx.ModelProto, job: Job) -> tuple[onnx.ModelProto, Row, bool]:
    """Return the result, what is to be reported of it, and whether it is approximate."""
    if job.how in ("edit", "items"):
        done = edits.edit(model, job.arguments["edits"])
        after = done.model.to_proto()
        return after, {"exit": done.exit_code, "passes": [], "same": after == model}, False
    result = graphfix.run(model, **job.arguments)
    applied = [o for o in result.report.outcomes if o.status.value == "applied"]
    failed = [f"{o.pass_id}: {o.reason}"[:200] for o in result.report.outcomes
              if o.status.value == "failed"]  # fmt: skip
    after = result.model.to_proto()
    loose = any(site.accuracy.value != "exact" for o in applied for site in o.sites)
    row: Row = {
        "exit": result.exit_code,
        "passes": sorted({o.pass_id for o in applied}),
        "same": after == model,
    }
    if failed:
        row["failed"] = failed
    return after, row, loose


def _stands_for_special(ids: list[str]) -> bool:
    """Say whether all passes that acted claim that NaN and infinities are as before."""
    claims = {p.id: p.claims for p in all_passes(())}
    return all({"nan", "inf"} <= claims.get(name, frozenset()) for name in ids)


def _status(rulings: list[Ruling], wild: frozenset[int]) -> Row:
    judged = [k for k, ruling in enumerate(rulings) if ruling.status != "original fails"]
    wrong = [k for k in judged if rulings[k].status != "equal"]
    if wrong and any(text in rulings[wrong[0]].text for text in OF_THE_RUNTIME):
        return {"status": "runtime", "text": rulings[wrong[0]].text, "feeds": 0}
    hard = [k for k in wrong if k not in wild]
    if hard:
        first = rulings[hard[0]]
        return {"status": first.status, "text": first.text, "feed": hard[0], "feeds": len(judged)}
    if wrong:
        text = rulings[wrong[0]].text
        return {"status": "special", "text": text, "feed": wrong[0], "feeds": len(judged)}
    if not judged:
        return {"status": "unjudged", "text": rulings[0].text if rulings else "", "feeds": 0}
    return {"status": "equal", "feeds": len(judged)}


def read_rows(path: Path) -> list[Row]:
    """Return the rows written so far."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


if __name__ == "__main__":
    sys.exit(main())
