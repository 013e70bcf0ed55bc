"""Measure what a small verified run takes next to what it took at earlier commits; write a table.

    python -m benchmarks.speed.earlier COMMIT... [-o benchmarks/results/start.md]

Each commit is checked out aside and run by the same Python with the same libraries, in turns with
the others, so that a busy moment hits all. CPU is user and system time of a command and all its
children. The Python has the libraries, and no graphfix of its own that earlier children would find.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks import RESULTS, ROOT
from benchmarks.speed.commands import SMALL
from benchmarks.speed.proof_cost import TARGET, run

_TRIES = 8


@dataclass(frozen=True)
class State:
    """One state of the code: how it is called, where it lies, and the CPU of each run."""

    name: str
    folder: Path
    seconds: list[float] = field(default_factory=list[float])


def states(commits: Sequence[str], folder: Path) -> list[State]:
    """Check the commits out below a folder; return them, and what lies here last."""
    found: list[State] = []
    for commit in commits:
        place = folder / commit
        add = ["git", "worktree", "add", "--quiet", "--detach", str(place), commit]
        subprocess.run(add, cwd=ROOT, check=True)
        command = ["git", "log", "-1", "--format=%h of %ad", "--date=format:%Y-%m-%d %H:%M", commit]
        ran = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        found.append(State(ran.stdout.strip(), place))
    return [*found, State("this one", ROOT)]


def measure(state: State, folder: Path) -> float:
    """Return the CPU seconds of one run.

    Raises:
        RuntimeError: It did not repair and verify the model.
    """
    out = str(folder / "out.onnx")
    words = ("run", str(SMALL), "--target", TARGET, "-o", out, "--force", "--json")
    os.environ["PYTHONPATH"] = str(state.folder)
    done = run([sys.executable, "-P", "-m", "graphfix", *words])
    if done.code != 0:
        raise RuntimeError(f"{state.name}: exit code {done.code}")
    return done.cpu


def render(measured: Sequence[State]) -> str:
    """Return the table as Markdown."""
    last = min(measured[-1].seconds)
    lines = [
        "# The start of a small verified run",
        "",
        f"`python -m benchmarks.speed.earlier {' '.join(s.folder.name for s in measured[:-1])}`, "
        f"Python {platform.python_version()}, {os.cpu_count()} CPUs. "
        f"`graphfix run {SMALL.name} --target {TARGET}` ({SMALL.stat().st_size} B), CPU seconds "
        f"with all children, {_TRIES} runs each in turns after one that is not counted.",
        "",
        "| commit | least | median | this one / it, least |",
        "|---|---|---|---|",
    ]
    for state in measured:
        least = min(state.seconds)
        lines.append(
            f"| {state.name} | {least:.3f} | {median(state.seconds):.3f} | {last / least:.2f} |"
        )
    return "\n".join([*lines, ""])


def main(words: Sequence[str]) -> int:
    """Measure and write; see the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("commits", nargs="+", metavar="COMMIT")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "start.md")
    given = parser.parse_args(words)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # bytecode is cached where it is installed
    with tempfile.TemporaryDirectory(prefix="earlier-") as scratch:
        folder = Path(scratch)
        os.chdir(folder)  # earlier children look into the working folder first
        try:
            measured = states(given.commits, folder)
            for attempt in range(_TRIES + 1):
                for state in measured:
                    seconds = measure(state, folder)
                    if attempt:
                        state.seconds.append(seconds)
        finally:
            for commit in given.commits:
                remove = ["git", "worktree", "remove", "--force", str(folder / commit)]
                subprocess.run(remove, cwd=ROOT, check=False)
    text = render(measured)
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
