"""What works where: files of exporters as they are, after onnxsim, OnnxSlim and graphfix.

    python -m benchmarks.score FOLDER --environments ENVIRONMENTS --target T [T ...]
        [--rows ROWS.tsv] [--measured ROWS.tsv] [--seconds S] [--single N] [-o PAGE.md]

FOLDER is what `benchmarks.pipelines.generate` wrote, ENVIRONMENTS what
`benchmarks.pipelines.environments` made. ROWS takes a line for each file; a further run continues
after them. Files are taken in the order of a hash of their names; after S seconds none is begun.
`--single N` runs the command by itself for N drawn files and targets, and the page says how many
end as the score has it. The page is of what is done. With `--measured`, what graphfix writes is
held to the file by the judge of `benchmarks.pipelines.measure`, whose rows these are.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

if __name__ == "__main__":  # who imports this keeps the environment as it is
    # Before numpy is imported: a forked child must not inherit a pool of threads.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks import RESULTS
from benchmarks.children import graphfix_main
from benchmarks.pipelines.catalogue import catalogue, drawn
from benchmarks.pipelines.measure import append_row
from benchmarks.pipelines.measured import read_rows
from benchmarks.score.measuring import SECONDS, Judges, measured
from benchmarks.score.page import page
from benchmarks.score.rows import FAILED, LEFT, TAKEN, Row, append, read
from graphfix.ir.version import __version__

_TOOLS = ("onnxsim", "onnxslim")


def main(words: Sequence[str]) -> int:
    """Run the benchmark; return its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--environments", type=Path, required=True)
    parser.add_argument("--target", nargs="+", required=True)
    parser.add_argument("--rows", type=Path, default=RESULTS / "score.tsv")
    parser.add_argument("--measured", type=Path, help="rows of benchmarks.pipelines.measure")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after these")
    parser.add_argument("--single", type=int, default=0, help="how many runs by themselves")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "score.md")
    given = parser.parse_args(words)
    until = time.monotonic() + given.seconds
    root: Path = given.folder.resolve()
    rows = read(given.rows)
    judged = given.measured is not None
    known = {row.key for row in read_rows(given.measured)} if judged else set[tuple[str, str]]()
    command = graphfix_main()
    with Judges(given.environments) as judges:
        for name in sorted(
            (p.relative_to(root).as_posix() for p in root.glob("*/*/*.onnx")), key=drawn
        ):
            file = name.removesuffix(".onnx")
            due = [t for t in given.target if file not in rows or t not in rows[file].letters]
            if not due:
                continue
            if time.monotonic() > until:
                break
            held = {target for target in due if judged and (target, file) not in known}
            row, results = measured(root / name, file, due, judges, command, held)
            append(given.rows, row)
            for result in results:
                append_row(given.measured, result)
            said = " ".join(f"{target} {letters}" for target, letters in row.letters.items())
            print(f"{file}: {said}", flush=True)
    rows = read(given.rows)
    single = list(_alone(root, list(rows.values()), given.single))
    given.output.write_text(page(list(rows.values()), _versions(), single), encoding="utf-8")
    return int(any(ours != alone for _, _, ours, alone in single))


def _alone(root: Path, rows: Sequence[Row], count: int) -> list[tuple[str, str, str, str]]:
    """Run the command for drawn files and targets as a user does."""
    pairs = [(row, target) for row in rows for target in row.letters]
    chosen = sorted(pairs, key=lambda pair: drawn(f"{pair[0].file} {pair[1]}"))[:count]
    found: list[tuple[str, str, str, str]] = []
    for row, target in chosen:
        with tempfile.TemporaryDirectory(prefix="score-") as scratch:
            line = [sys.executable, "-m", "graphfix", "run", str(root / f"{row.file}.onnx")]
            line += ["--target", target, "--trust-rules", "-q", "-o", f"{scratch}/out.onnx"]
            ended = subprocess.run(line, capture_output=True, timeout=2 * SECONDS, check=False)
        letter = {0: TAKEN, 1: LEFT}.get(ended.returncode, FAILED)
        found.append((row.file, target, row.letters[target][-1], letter))
    return found


def _versions() -> list[str]:
    packages = catalogue().environments["tools"].packages
    pinned = (package.replace("==", " ") for package in packages)
    return [f"graphfix {__version__}", *(p for p in pinned if p.split()[0] in _TOOLS)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
