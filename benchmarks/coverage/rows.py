"""The answers for the cases of a list, a row each, after the rows that are there."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.coverage.cases import Case, stored
from benchmarks.coverage.outcomes import FAULTS, Answer, answered
from benchmarks.coverage.release import confirmed, held_to_newest, release_of

_TOGETHER = 50  # cases that are run in an older release at a time


def answer(file: Path, rows: Path, target: str, only: Sequence[str], seconds: float) -> int:
    """Answer the cases that have no row yet; return 1 where one of them is a fault."""
    done = set[str]()
    if rows.is_file():
        done = {json.loads(line)["case"] for line in rows.read_text("utf-8").splitlines()}
    wanted = [case for case in stored(file) if case.name not in done and _named(case, only)]
    end, wrong = time.monotonic() + seconds, 0
    with rows.open("a", encoding="utf-8") as out:
        for some in _parts(wanted):
            if time.monotonic() > end:
                break
            for case, given in zip(some, _answers(some, target), strict=True):
                wrong += given.answer in FAULTS
                row = {
                    "case": case.name, "target": target, "answer": given.answer,
                    "by": given.by, "why": given.why, "engine": given.engine,
                }  # fmt: skip
                out.write(json.dumps(row) + "\n")
                out.flush()
    return 1 if wrong else 0


def _named(case: Case, only: Sequence[str]) -> bool:
    return not only or case.entry in only or case.entry.rpartition("-")[0] in only


def _parts(cases: Sequence[Case]) -> Iterator[Sequence[Case]]:
    for start in range(0, len(cases), _TOGETHER):
        yield cases[start : start + _TOGETHER]


def _answers(cases: Sequence[Case], target: str) -> list[Answer]:
    found = [answered(case, target) for case in cases]
    minor = release_of(target)
    if minor:
        return confirmed(cases, found, minor)
    return [held_to_newest(one) for one in found] if target.startswith("ort") else found
