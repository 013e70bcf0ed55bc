"""Check over a corpus that no run leaves more findings of a severity than it found.

    python benchmarks/never_worse.py FOLDER [--target T ...] [--every N] [--jobs N] [-o OUT.md]

For each profile (all of TensorRT's where none is named) and each `*.onnx` below FOLDER, the
findings of severity reject, wrong and builder after a run, without verification, are counted and
compared with those of the untouched model, local functions inlined. Ends with 1 when one grew.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from graphfix.errors import GraphfixError  # noqa: E402
from graphfix.pipeline.api import check, run  # noqa: E402
from graphfix.report import Finding, Severity  # noqa: E402
from graphfix.targets.profiles import target_names  # noqa: E402

Counts = Counter[Severity]


@dataclass(frozen=True)
class Grown:
    """A model that a run made worse."""

    file: str
    target: str
    before: Counts
    after: Counts


def counted(findings: Sequence[Finding]) -> Counts:
    """Count what blocks, by severity."""
    return Counter(finding.severity for finding in findings if finding.blocks)


def grown(path: Path, targets: Sequence[str], name: str) -> list[Grown] | str:
    """Run one model for each target; return where a count grew, or why it is no model."""
    try:
        plain = run(path, passes=["inline-functions"], verify="off").model
        found = [
            Grown(
                name,
                target,
                counted(check(plain, target)),
                counted(run(path, target, verify="off").report.findings_after),
            )
            for target in targets
        ]
    except GraphfixError as error:
        return str(error)
    return [one for one in found if any(one.after[s] > one.before[s] for s in one.after)]


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
    worse: list[Grown] = []
    unread = 0
    with ProcessPoolExecutor(given.jobs) as pool:
        for name, found in zip(names, pool.map(grown, paths, repeat(targets), names), strict=True):
            if isinstance(found, str):
                unread += 1
                print(f"{name}: {found}", file=sys.stderr)
            else:
                worse.extend(found)
    lines = [
        "# No run makes a model worse",
        "",
        f"`python benchmarks/never_worse.py {' '.join(words)}`",
        "",
        f"{len(paths)} models, {unread} of them no models, for {', '.join(targets)}: "
        f"{len(worse)} with more findings of a severity after the run than before.",
        "",
        "| model | target | before | after |",
        "|---|---|---|---|",
        *(f"| {g.file} | {g.target} | {_shown(g.before)} | {_shown(g.after)} |" for g in worse),
        "",
    ]
    given.output.write_text("\n".join(lines), encoding="utf-8")
    print(lines[4])
    return 1 if worse else 0


def _shown(counts: Counts) -> str:
    return ", ".join(f"{severity} {number}" for severity, number in sorted(counts.items()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
