"""Check over a corpus that no run leaves more findings of a severity than it found.

    python benchmarks/never_worse.py FOLDER [--target T ...] [--every N] [-o OUT.md]

For each profile (all of TensorRT's where none is named) and each `*.onnx` below FOLDER, the
findings of severity reject, wrong and builder after a run, without verification, are counted and
compared with those of the untouched model, local functions inlined. Ends with 1 when one grew.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
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


def grown(path: Path, target: str, name: str) -> Grown | None:
    """Run one model for one target; return it where a count grew, None otherwise.

    Raises:
        GraphfixError: The file is not a model.
    """
    result = run(path, target, verify="off")
    plain = run(path, passes=["inline-functions"], verify="off").model
    before, after = counted(check(plain, target)), counted(result.report.findings_after)
    if all(after[severity] <= before[severity] for severity in after):
        return None
    return Grown(name, target, before, after)


def main(words: Sequence[str]) -> int:
    """Check the corpus; see the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", action="append", help="again for more; default: all profiles")
    parser.add_argument("--every", type=int, default=1, help="only every N-th model")
    parser.add_argument("-o", "--output", type=Path, default=HERE / "results" / "never-worse.md")
    given = parser.parse_args(words)
    targets = given.target or [name for name in target_names() if name.startswith("trt")]
    paths = sorted(given.folder.rglob("*.onnx"))[:: given.every]
    worse: list[Grown] = []
    unread = 0
    for path in paths:
        name = path.relative_to(given.folder).as_posix()
        try:
            found = [grown(path, target, name) for target in targets]
        except GraphfixError as error:
            unread += 1
            print(f"{name}: {error}", file=sys.stderr)
            continue
        worse.extend(one for one in found if one is not None)
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
