"""How long a run takes that asks the engine, next to one that does not.

    python -m benchmarks.unseen.times FOLDER --engine tflite1.29 tract0.23 ... [--seconds S]

Each network is repaired three times by the command that users start, an interpreter of its own each
time: by rules alone, as on a machine without the engine; with the engine asked, of which nothing is
known yet; and the same once more, with what it said kept in the user's cache. `benchmarks.unseen`
forks the command from an interpreter that has imported everything, which makes the run by rules
five times as quick as a user's and the engine's process no quicker: its times say nothing of this.
A further run continues after the rows of ``results/asking_times.tsv``.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks import RESULTS
from benchmarks.unseen.command import Ran, repaired
from benchmarks.unseen.tables import line, read, write
from graphfix.engines.targets import load_target
from graphfix.pipeline.settings import runs_here

_LONGEST = 600.0
_HEAD = """# How long a run takes that asks

`python -m benchmarks.unseen.times FOLDER --engine {engines}`: networks of
`benchmarks.unseen.generate`, each run three times as a user starts it, `python -m graphfix run`, on
two cores that others use as well. By rules: the run finds no engine. Asked: it does, and knows
nothing of it yet. Again: the same once more. Ratios are medians. Engines that are slow to start
wait 120 seconds for the next run, which is long enough where networks follow each other.

{table}"""


@dataclass(frozen=True)
class Times:
    """What three runs of a network took.

    Attributes:
        engine: The target.
        file: The network.
        rules: Seconds by rules alone.
        asked: Seconds where the engine is asked.
        again: Seconds of the same run once more.
        questions: How often the second gave the engine a model, apart from comparing.
        further: How often the third did.
    """

    engine: str
    file: str
    rules: float
    asked: float
    again: float
    questions: int
    further: int


def timed(path: Path, target: str, folder: Path) -> Times:
    """Run a network three times.

    Args:
        path: The network.
        target: The target.
        folder: An empty one, for results and answers.
    """
    none = folder / "none"
    none.mkdir()
    answers = {"GRAPHFIX_ANSWERS": str(folder / "answers")}
    rules = _run(path, target, folder, {**answers, "GRAPHFIX_ENGINES": str(none)})
    asked, again = (_run(path, target, folder, answers) for _ in range(2))
    seconds = rules.seconds, asked.seconds, again.seconds
    return Times(target, path.name, *seconds, asked.questions, again.questions)


def _run(path: Path, target: str, folder: Path, variables: Mapping[str, str]) -> Ran:
    return repaired(path, target, folder / "out.onnx", ["--trust-rules"], variables, _LONGEST)


def page(rows: Sequence[Times]) -> str:
    """Return the page of all rows."""
    engines = sorted({row.engine for row in rows})
    columns = ("engine", "networks", "by rules, s", "asked / rules", "again / rules", "questions")
    lines = [line((*columns, "again")), line(["---"] * 7)]
    for engine in engines:
        own = [row for row in rows if row.engine == engine]
        cells = [engine, str(len(own)), f"{median(row.rules for row in own):.1f}"]
        cells += [f"{median(row.asked / row.rules for row in own):.1f}"]
        cells += [f"{median(row.again / row.rules for row in own):.1f}"]
        cells += [str(sum(row.questions for row in own)), str(sum(row.further for row in own))]
        lines.append(line(cells))
    return _HEAD.format(engines=" ".join(engines), table="".join(lines))


def main() -> int:
    """Run from the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--engine", required=True, nargs="+", metavar="TARGET")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after these")
    parser.add_argument("--rows", type=Path, default=RESULTS / "asking_times.tsv")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "asking_times.md")
    given = parser.parse_args()
    for name in given.engine:
        if not runs_here(load_target(name)):
            parser.error(f"this machine has no engine for {name}")
    rows = read(given.rows, Times)
    began = time.monotonic()
    for path in sorted(given.folder.glob("*.onnx")):
        for target in given.engine:
            if time.monotonic() - began > given.seconds:
                break
            if any((row.engine, row.file) == (target, path.name) for row in rows):
                continue
            with tempfile.TemporaryDirectory(prefix="times-") as folder:
                rows.append(timed(path, target, Path(folder)))
    rows.sort(key=lambda row: (row.engine, row.file))
    write(given.rows, Times, rows)
    if rows:
        given.output.write_text(page(rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
