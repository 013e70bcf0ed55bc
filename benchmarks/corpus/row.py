"""One model of a corpus, run through the command line: the job and what is kept of it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.children import Ended, call_in_child
from benchmarks.references import compare_with_references

BLOCKING = ("reject", "wrong", "builder")


@dataclass(frozen=True)
class Job:
    """What a worker needs to run one model.

    Attributes:
        file: The model's path below the root, as the table shows it.
        path: Where it lies.
        target: The target's name.
        options: Further words for the command line.
        references: The `.npz` next to it, or None.
        against_original: Whether the exported file itself differs from the stored results.
        timeout: Seconds that the run, and then the comparison, may take.
        memory_bytes: Address space of each process.
        out: Where the result is kept, or None.
    """

    file: str
    path: Path
    target: str
    options: tuple[str, ...] = ()
    references: Path | None = None
    against_original: bool = False
    timeout: float = 600
    memory_bytes: int = 12 << 30
    out: Path | None = None


@dataclass(frozen=True)
class Row:
    """What became of one model.

    Attributes:
        file: The model's path below the root.
        code: The exit code; negative for a signal.
        seconds: Wall time of the run.
        resolved: The target that graphfix named in its answer; empty when there was none.
        before: Blocking findings before, as `severity feature` with `?` for uncertain ones.
        rejects_before: Features of `reject` findings before, certain or not.
        certain_rejects_before: The same, certain ones alone.
        after: Blocking findings after.
        verification: The status of the whole-model comparison.
        written: Whether a file was written.
        reference: Status of `references.compare_with_references`, or empty when there is nothing
            to compare.
        reason: Why, for a reference or a run that is not as it should be.
        traceback: Whether a traceback was printed.
        left_because: For each kind of finding that is left, why no pass removed it.
        approximate: How many sites are labelled approximate.
    """

    file: str
    code: int
    seconds: float
    resolved: str = ""
    before: tuple[str, ...] = ()
    rejects_before: tuple[str, ...] = ()
    certain_rejects_before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    verification: str = ""
    written: bool = False
    reference: str = ""
    reason: str = ""
    traceback: bool = False
    left_because: tuple[str, ...] = ()
    approximate: int = 0


def run_job(job: Job, main: Callable[[Sequence[str]], int]) -> Row:
    """Run the command line on one model in a child, then compare its values in another one."""
    with tempfile.TemporaryDirectory(prefix="corpus-") as folder:
        scratch = Path(folder)
        out = job.out or scratch / "out.onnx"
        words = ["run", str(job.path), "--target", job.target, "-o", str(out), "--json"]
        words.append("--trust-rules")
        ended = call_in_child(
            lambda: main([*words, *job.options]),
            scratch,
            timeout=job.timeout,
            memory_bytes=job.memory_bytes,
        )
        row = _row(job, ended, out)
        if job.references is None or not row.written:
            return row
        return _with_reference(row, job, out, job.references, scratch)


def _row(job: Job, ended: Ended, out: Path) -> Row:
    traceback = "Traceback (most recent call last)" in ended.stderr
    base = Row(file=job.file, code=ended.code, seconds=ended.seconds, traceback=traceback)
    if ended.timed_out:
        return replace(base, reason=f"killed after {job.timeout:g} s")
    try:
        answer: dict[str, Any] = json.loads(ended.stdout)
    except ValueError:
        last = ended.stderr.strip().splitlines()[-1:] or ["no answer on stdout"]
        return replace(base, reason=last[0])
    if "error" in answer:
        return replace(base, reason=answer["error"]["message"])
    before = [f for f in answer["findings_before"] if f["severity"] in BLOCKING]
    rejects = [f for f in before if f["severity"] == "reject"]
    return replace(
        base,
        resolved=answer["target"] or "",
        before=tuple(_short(f) for f in before),
        rejects_before=tuple(f["feature"] for f in rejects),
        certain_rejects_before=tuple(f["feature"] for f in rejects if f["certain"]),
        after=tuple(_short(f) for f in answer["findings_after"] if f["severity"] in BLOCKING),
        verification=answer["verification"]["status"],
        written=answer["output"] is not None and out.exists(),
        reason=answer["verification"]["reason"],
        left_because=_left_because(answer),
        approximate=_approximate_sites(answer),
    )


def _approximate_sites(answer: dict[str, Any]) -> int:
    return sum(
        site["accuracy"] == "approximate"
        for outcome in answer["outcomes"]
        if outcome["status"] == "applied"
        for site in outcome["sites"]
    )


def _left_because(answer: dict[str, Any]) -> tuple[str, ...]:
    """Say of each kind of finding that is left why no pass removed it."""
    said: dict[str, list[str]] = {}
    for outcome in answer["outcomes"]:
        if outcome["status"] in ("refused", "failed"):
            reasons = said.setdefault(outcome["pass"], [])
            if outcome["reason"] not in reasons:
                reasons.append(outcome["reason"])
    lines: dict[str, None] = {}
    for finding in answer["findings_after"]:
        if finding["severity"] not in BLOCKING:
            continue
        known = [f"{p}: {said[p][0]}" for p in finding["removed_by"] if p in said]
        if finding["missing"]:
            why = f"the {finding['missing']} is unknown"
        elif known:
            why = "; ".join(known[:2])
        elif finding["removed_by"]:
            why = "what is left of it is not of a form that a pass takes"
        else:
            why = "no pass removes it"
        lines.setdefault(f"{_short(finding)}: {why}")
    return tuple(lines)


def _short(finding: dict[str, Any]) -> str:
    return f"{finding['severity']} {finding['feature']}{'' if finding['certain'] else '?'}"


def _with_reference(row: Row, job: Job, out: Path, references: Path, scratch: Path) -> Row:
    folder = scratch / "compare"
    folder.mkdir()
    ended = call_in_child(
        lambda: compare_with_references(
            out, job.path, references, against_original=job.against_original
        ),
        folder,
        timeout=job.timeout,
        memory_bytes=job.memory_bytes,
    )
    if ended.code != 0:
        last = ended.stderr.strip().splitlines()[-1:] or [f"ended with {ended.code}"]
        status, reason = "does not run", last[0]
    else:
        answer = json.loads(ended.stdout)
        status, reason = answer["status"], answer["reason"]
    return replace(row, reference=status, reason=reason or row.reason)
