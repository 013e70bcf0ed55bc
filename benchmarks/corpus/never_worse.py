"""Check over a corpus that no run leaves more findings of a severity than it found.

    python -m benchmarks.corpus.never_worse FOLDER [--target T ...] [--every N] [--jobs N]
        [--rows ROWS.jsonl] [-o OUT.md]

For each profile (all of TensorRT's where none is named, of every family with `--target all`) and
each `*.onnx` below FOLDER, the findings of severity reject, wrong and builder after a run are
counted and compared with those of the untouched model: what `check` finds, local functions inlined,
or what the run says of it, which also ran it where an engine computes in float16. The outputs of
the result are compared with those of the file, as `--verify full` does. Profiles that get the same
model share one comparison. ROWS takes a line for each model that is done: with it a sweep continues
where it was stopped, as long as the profiles asked for are the same. Ends with 1 when a number of
findings grew or an output changed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks import RESULTS
from benchmarks.corpus.acceptance import verdicts_of
from benchmarks.corpus.cells import share
from graphfix.api import check, run
from graphfix.engines.targets import target_names
from graphfix.errors import GraphfixError
from graphfix.ir.model import Model
from graphfix.pipeline import attempts, verifying
from graphfix.pipeline.attempts import Counts, grown
from graphfix.pipeline.original import Original
from graphfix.pipeline.settings import Settings
from graphfix.report import Status, Verdict, Verification, blocking_by_severity

UNCHANGED = "unchanged"


@dataclass(frozen=True)
class Outcome:
    """What a run made of one model for one target.

    Attributes:
        file: The model.
        target: The profile.
        before: Findings that block, of the inlined model, by severity.
        after: The same, of the result.
        outputs: Status of the comparison; ``unchanged`` where no rewrite was applied.
        reason: Why the outputs were not found equal.
    """

    file: str
    target: str
    before: Counts
    after: Counts
    outputs: str
    reason: str = ""

    @property
    def is_worse(self) -> bool:
        """Whether a severity has more findings than before."""
        return bool(grown(self.before, self.after))


def remember_comparisons() -> None:
    """Let runs of this process that give the same model for the same file share one comparison."""
    known: dict[tuple[str, bytes], Verification] = {}

    def verify(before: Original, after: Model, settings: Settings, **more: Any) -> Verification:
        text = after.to_proto().SerializeToString(deterministic=True)
        key = before.facts.sha256, sha256(text).digest()
        if key not in known:
            known[key] = verifying.verify(before, after, settings, **more)
        return known[key]

    setattr(attempts, "verify", verify)  # noqa: B010 - it is imported there, not exported


def outcomes(path: Path, targets: Sequence[str], name: str) -> list[Outcome] | str:
    """Run one model for each target; return what became of it, or why it is no model."""
    found: list[Outcome] = []
    try:
        plain = run(path, passes=["inline-functions"], verify="off").model
        for target in targets:
            report = run(path, target, verify="full").report
            # What float16 does not hold is found by running the model, which no check does.
            measured = blocking_by_severity(report.findings_before)
            before = blocking_by_severity(check(plain, target)) | measured
            after = blocking_by_severity(report.findings_after)
            applied = any(o.status is Status.APPLIED for o in report.outcomes)
            said = report.verification
            outputs = (str(said.status), said.reason) if applied else (UNCHANGED, "")
            found.append(Outcome(name, target, before, after, *outputs))
    except GraphfixError as error:
        return str(error)
    return found


def kept(rows: Path | None) -> dict[str, list[Outcome] | str]:
    """Return the models that an earlier sweep has done."""
    done: dict[str, list[Outcome] | str] = {}
    for line in rows.read_text(encoding="utf-8").splitlines() if rows and rows.exists() else ():
        entry = json.loads(line)
        found = entry["found"]
        if not isinstance(found, str):
            found = [_outcome(fields) for fields in found]
        done[entry["file"]] = found
    return done


def _outcome(fields: dict[str, Any]) -> Outcome:
    counts: dict[str, Any] = {when: Counter[str](fields[when]) for when in ("before", "after")}
    return Outcome(**{**fields, **counts})


def keep(rows: Path | None, name: str, found: list[Outcome] | str) -> None:
    """Keep what became of a model."""
    if rows is None:
        return
    plain = found if isinstance(found, str) else [vars(outcome) for outcome in found]
    with rows.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps({"file": name, "found": plain}) + "\n")


def main(words: Sequence[str]) -> int:
    """Check the corpus; see the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", action="append", help="again for more; default: all profiles")
    parser.add_argument("--every", type=int, default=1, help="only every N-th model")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--rows", type=Path, help="keep what is done there, and go on from it")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "never-worse.md")
    given = parser.parse_args(words)
    targets = given.target or [name for name in target_names() if name.startswith("trt")]
    targets = [*target_names()] if targets == ["all"] else targets
    paths = sorted(given.folder.rglob("*.onnx"))[:: given.every]
    names = {path.relative_to(given.folder).as_posix(): path for path in paths}
    done = {name: found for name, found in kept(given.rows).items() if name in names}
    missing = [name for name in names if name not in done]
    with ProcessPoolExecutor(given.jobs, initializer=remember_comparisons) as pool:
        running = {pool.submit(outcomes, names[name], targets, name): name for name in missing}
        for future in as_completed(running):
            name = running[future]
            found = done[name] = future.result()
            keep(given.rows, name, found)
            state = found if isinstance(found, str) else _state(found)
            print(f"[{len(done)}/{len(names)}] {name}: {state}", file=sys.stderr, flush=True)
    rows = [o for name in names if not isinstance(found := done[name], str) for o in found]
    unread = sum(isinstance(found, str) for found in done.values())
    lines = [
        "# No run makes a model worse",
        "",
        f"`python -m benchmarks.corpus.never_worse {' '.join(words)}`",
        "",
        f"{len(paths)} models, {unread} of them no models.",
        "",
        *table(rows, targets),
        *done_of_those_that_run(rows, targets, verdicts_of(given.folder)),
    ]
    given.output.write_text("\n".join(lines), encoding="utf-8")
    worse = [o for o in rows if o.is_worse]
    mismatches = [o for o in rows if o.outputs == Verdict.MISMATCH]
    print(f"{len(rows)} runs: {len(worse)} worse, {len(mismatches)} with other outputs")
    return 1 if worse or mismatches else 0


def _state(found: Sequence[Outcome]) -> str:
    bad = [o.target for o in found if o.is_worse or o.outputs == Verdict.MISMATCH]
    return f"worse for {', '.join(bad)}" if bad else "not worse"


def table(done: Sequence[Outcome], targets: Sequence[str]) -> list[str]:
    """Return the lines of the tables: a line a target, what is worse, what was not compared."""
    columns = (UNCHANGED, *(str(verdict) for verdict in Verdict if verdict is not Verdict.OFF))
    kinds = [kind for kind in columns if any(o.outputs == kind for o in done)]
    lines = [
        f"| target | findings grew | {' | '.join(f'outputs {kind}' for kind in kinds)} |",
        "|---" * (len(kinds) + 2) + "|",
    ]
    for target in targets:
        mine = [o for o in done if o.target == target]
        numbers = Counter(o.outputs for o in mine)
        cells = [str(numbers[kind]) for kind in kinds]
        lines.append(f"| {target} | {sum(o.is_worse for o in mine)} | {' | '.join(cells)} |")
    lines += ["", "## Worse", "", "| model | target | before | after |", "|---|---|---|---|"]
    lines += [
        f"| {o.file} | {o.target} | {_shown(o.before)} | {_shown(o.after)} |"
        for o in done
        if o.is_worse
    ]
    lines += ["", "## Outputs not found equal", "", "| model | targets | status | reason |"]
    lines += ["|---|---|---|---|"]
    alike: dict[tuple[str, str, str], list[str]] = {}
    for o in done:
        if o.outputs not in (UNCHANGED, Verdict.EQUAL):
            alike.setdefault((o.file, o.outputs, o.reason), []).append(o.target)
    for (file, status, reason), among in alike.items():
        which = "all" if len(among) == len(targets) else ", ".join(among)
        lines.append(f"| {file} | {which} | {status} | {reason.replace('|', '/')} |")
    return [*lines, ""]


def done_of_those_that_run(
    rows: Sequence[Outcome], targets: Sequence[str], verdicts: dict[str, dict[str, Any]]
) -> list[str]:
    """Return the table of the models that onnxruntime runs as they are: how many are repaired.

    Args:
        rows: All runs.
        targets: The profiles.
        verdicts: `{file: {"runs": bool}}`; empty gives no table.
    """
    if not verdicts:
        return []
    running = {name for name, said in verdicts.items() if said.get("runs")}
    lines = [
        "## Models that onnxruntime runs as they are",
        "",
        "done: nothing left of severity reject, wrong and builder, and the outputs as a whole "
        "equal or unchanged; inconclusive ones are not counted, whatever the sites' proofs say.",
        "",
        "| target | models | done | do-nothing |",
        "|---|---|---|---|",
    ]
    for target in targets:
        mine = [o for o in rows if o.target == target and o.file in running]
        done = [o for o in mine if not o.after and o.outputs in (UNCHANGED, Verdict.EQUAL)]
        idle = [o for o in mine if not o.before]
        cells = [share(len(done), len(mine)), share(len(idle), len(mine))]
        lines.append(f"| {target} | {len(mine)} | {' | '.join(cells)} |")
    return [*lines, ""]


def _shown(counts: Counts) -> str:
    return ", ".join(f"{severity} {number}" for severity, number in sorted(counts.items()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
