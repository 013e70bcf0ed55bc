"""How long the tests of two checkouts take, on a draw of the files that both have.

Each checkout has an environment `.venv` in which it is installed. The parts are run in turns,
so that what else the machine does falls on both alike.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path

SEED, FILES = 12, 35


@dataclass(frozen=True, slots=True)
class Row:
    """One part of the draw in one checkout; CPU counts all children that were waited for."""

    part: int
    which: str
    cpu: float
    wall: float
    said: str


def tests(root: Path) -> set[str]:
    """Return the files of tests of a checkout."""
    return {str(path.relative_to(root)) for path in (root / "tests").rglob("test_*.py")}


def parts(old: Path, new: Path) -> list[list[str]]:
    """Return the files that both have, shuffled and cut."""
    common = sorted(tests(old) & tests(new))
    random.Random(SEED).shuffle(common)
    return [common[start : start + FILES] for start in range(0, len(common), FILES)]


def measured(part: int, which: str, root: Path, files: list[str]) -> Row:
    """Run some tests in a checkout."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    words = [str(root / ".venv/bin/python"), "-m", "pytest", "-q", "--no-header", *files]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    said = done.stdout.strip().splitlines()[-1]
    return Row(part, which, round(cpu, 1), round(time.monotonic() - start, 1), said)


def main() -> None:
    """Measure, and print a row of JSON for each part and checkout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--parts", type=int, default=2, help=f"of {FILES} files each")
    options = parser.parse_args()
    roots = {"old": options.old.resolve(), "new": options.new.resolve()}
    for part, files in enumerate(parts(*roots.values())[: options.parts]):
        for which, root in roots.items():
            print(json.dumps(asdict(measured(part, which, root, files))), flush=True)


if __name__ == "__main__":
    main()
