"""How long the tests of two checkouts take, on a draw of the subjects that both have.

A subject is what a file of tests is about: `tests/passes/test_x.py` and the pairs of the same pass
in `tests/passes/pairs/x.txt` are one, wherever a checkout has written its tests. Each checkout has
an environment `.venv` in which it is installed, unless `--python` names an interpreter with what
both depend on. The parts are run in turns, so that what else the machine does falls on both alike.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path

SEED, SUBJECTS = 12, 35


@dataclass(frozen=True, slots=True)
class Row:
    """One part of the draw in one checkout; CPU counts all children that were waited for."""

    part: int
    which: str
    tests: int
    cpu: float
    wall: float
    said: str


def subjects(root: Path) -> dict[str, list[str]]:
    """Return the files of tests of a checkout under what they are about."""
    found: dict[str, list[str]] = {}
    for path in sorted((root / "tests").rglob("test_*.py")):
        name = str(path.relative_to(root))
        found.setdefault(name.removesuffix(".py"), []).append(name)
    for path in sorted((root / "tests").rglob("pairs/*.txt")):
        about = path.parent.parent / f"test_{path.stem}"
        found.setdefault(str(about.relative_to(root)), []).append(str(path.relative_to(root)))
    return found


def parts(old: Path, new: Path) -> list[tuple[list[str], list[str]]]:
    """Return the files of the subjects that both have, shuffled and cut."""
    before, after = subjects(old), subjects(new)
    common = sorted(before.keys() & after.keys())
    random.Random(SEED).shuffle(common)
    cut = [common[start : start + SUBJECTS] for start in range(0, len(common), SUBJECTS)]
    return [(_files(before, part), _files(after, part)) for part in cut]


def _files(found: dict[str, list[str]], part: list[str]) -> list[str]:
    return [name for subject in part for name in found[subject]]


def measured(part: int, which: str, root: Path, files: list[str], python: Path) -> Row:
    """Run some tests in a checkout."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    words = [str(python), "-P", str(Path(__file__).with_name("drawn.py")), *files]
    paths = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False, env=paths)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    said = done.stdout.strip().splitlines()[-1]
    count = sum(map(int, re.findall(r"(\d+) (?:passed|failed)", said)))
    return Row(part, which, count, round(cpu, 1), round(time.monotonic() - start, 1), said)


def main() -> None:
    """Measure, and print a row of JSON for each part and checkout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--parts", type=int, default=2, help=f"of {SUBJECTS} subjects each")
    parser.add_argument("--python", type=Path, help="for both; .venv/bin/python of each")
    options = parser.parse_args()
    old, new = options.old.resolve(), options.new.resolve()
    rows: list[Row] = []
    for part, drawn in enumerate(parts(old, new)[: options.parts]):
        for which, root, files in zip(("old", "new"), (old, new), drawn, strict=True):
            python = options.python or root / ".venv/bin/python"
            rows.append(measured(part, which, root, files, python))
            print(json.dumps(asdict(rows[-1])), flush=True)
    print(shares(rows))


def shares(rows: list[Row]) -> str:
    """Return the CPU seconds of both as a share, of all and of a test."""
    (before, tests_before), (after, tests_after) = (
        (sum(row.cpu for row in rows if row.which == which), _tests(rows, which))
        for which in ("old", "new")
    )
    each = (after / tests_after) / (before / tests_before)
    return f"CPU {before:.1f} and {after:.1f}: {after / before:.2f}; of a test {each:.2f}"


def _tests(rows: list[Row], which: str) -> int:
    return sum(row.tests for row in rows if row.which == which)


if __name__ == "__main__":
    main()
