"""Check over a corpus that no run leaves more findings of a severity than it found.

    python benchmarks/never_worse.py FOLDER [--target T ...] [--every N] [--jobs N] [-o OUT.md]

For each profile (all of TensorRT's where none is named) and each `*.onnx` below FOLDER, the
findings of severity reject, wrong and builder after a run are counted and compared with those of
the untouched model, local functions inlined; and the outputs of the result are compared with those
of the file, as `--verify full` does. Profiles that get the same model share one comparison. Ends
with 1 when a number of findings grew or an output changed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from itertools import repeat
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from graphfix.errors import GraphfixError  # noqa: E402
from graphfix.pipeline.api import check, run  # noqa: E402
from graphfix.report import Finding, Severity, Status, Verdict  # noqa: E402
from graphfix.targets.profiles import target_names  # noqa: E402

Counts = Counter[Severity]
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
        return any(self.after[severity] > self.before[severity] for severity in self.after)


def counted(findings: Sequence[Finding]) -> Counts:
    """Count what blocks, by severity."""
    return Counter(finding.severity for finding in findings if finding.blocks)


def outcomes(path: Path, targets: Sequence[str], name: str) -> list[Outcome] | str:
    """Run one model for each target; return what became of it, or why it is no model."""
    compared: dict[bytes, tuple[str, str]] = {}
    found = []
    try:
        plain = run(path, passes=["inline-functions"], verify="off").model
        for target in targets:
            before = counted(check(plain, target))
            result = run(path, target, verify="off")
            digest = sha256(result.model.to_proto().SerializeToString(deterministic=True)).digest()
            if not any(o.status is Status.APPLIED for o in result.report.outcomes):
                compared[digest] = (UNCHANGED, "")
            elif digest not in compared:
                told = run(path, target, verify="full").report.verification
                compared[digest] = (str(told.status), told.reason)
            after = counted(result.report.findings_after)
            found.append(Outcome(name, target, before, after, *compared[digest]))
    except GraphfixError as error:
        return str(error)
    return found


def main(words: Sequence[str]) -> int:
    """Check the corpus; see the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", action="append", help="again for more; default: all profiles")
    parser.add_argument("--every", type=int, default=1, help="only every N-th model")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, default=HERE / "results" / "never-worse.md")
    given = parser.parse_args(words)
    targets = given.target or [name for name in target_names() if name.startswith("trt")]
    paths = sorted(given.folder.rglob("*.onnx"))[:: given.every]
    names = [path.relative_to(given.folder).as_posix() for path in paths]
    done: list[Outcome] = []
    unread = 0
    with ProcessPoolExecutor(given.jobs) as pool:
        told = pool.map(outcomes, paths, repeat(targets), names)
        for number, (name, found) in enumerate(zip(names, told, strict=True), start=1):
            if isinstance(found, str):
                unread += 1
                print(f"{name}: {found}", file=sys.stderr)
            else:
                done.extend(found)
                bad = [o.target for o in found if o.is_worse or o.outputs == Verdict.MISMATCH]
                state = f"worse for {', '.join(bad)}" if bad else "not worse"
                print(f"[{number}/{len(names)}] {name}: {state}", file=sys.stderr, flush=True)
    lines = [
        "# No run makes a model worse",
        "",
        f"`python benchmarks/never_worse.py {' '.join(words)}`",
        "",
        f"{len(paths)} models, {unread} of them no models.",
        "",
        *table(done, targets),
    ]
    given.output.write_text("\n".join(lines), encoding="utf-8")
    worse = [o for o in done if o.is_worse]
    mismatches = [o for o in done if o.outputs == Verdict.MISMATCH]
    print(f"{len(done)} runs: {len(worse)} worse, {len(mismatches)} with other outputs")
    return 1 if worse or mismatches else 0


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


def _shown(counts: Counts) -> str:
    return ", ".join(f"{severity} {number}" for severity, number in sorted(counts.items()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
