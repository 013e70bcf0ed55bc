"""How much less an engine is asked about a second model of the same kind.

    python -m benchmarks.unseen.second FIRST SECOND --engine tract0.23

FIRST is repaired with the engine asked, of which nothing is known; then SECOND, for which what it
said of FIRST is kept; and SECOND once more with nothing known. A row is added to
``results/second_models.tsv`` and the page is written: two files of one network by other exporters
or opsets, or two networks of one generator.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from benchmarks import RESULTS
from benchmarks.unseen.command import Ran, repaired
from benchmarks.unseen.tables import line, read, write
from graphfix.engines.targets import load_target
from graphfix.pipeline.settings import runs_here

_HEAD = """# Questions about a second model of the same kind

`python -m benchmarks.unseen.second FIRST SECOND --engine T`: how often the engine was given a
model to find what it says no to, apart from comparing: for the first, for the second with what was
said of the first kept, and for the second by itself. The exit codes are of these runs. Networks are
those of `benchmarks.unseen.generate`; one of them by another exporter or opset (`--opset`), or two.
An engine called `-bare` was learned by `graphfix learn NAME-bare --only Relu`: no rule
is known of it, so that all is found by asking.

{table}
{said}
"""


@dataclass(frozen=True)
class Pair:
    """What two models took.

    Attributes:
        engine: The target.
        first: The first file.
        second: The second.
        questions: About the first.
        after: About the second, after the first.
        alone: About the second with nothing known.
        codes: What the three runs ended with.
    """

    engine: str
    first: str
    second: str
    questions: int
    after: int
    alone: int
    codes: str


_NAMES = [field.name for field in fields(Pair)]


def _asked(path: Path, target: str, answers: Path) -> Ran:
    variables = {"GRAPHFIX_ANSWERS": str(answers)}
    return repaired(path, target, answers / "out.onnx", ["--allow-io-change"], variables)


def page(rows: Sequence[Pair]) -> str:
    """Return the page of all rows."""
    lines = [line(_NAMES), line(["---"] * len(_NAMES))]
    lines += [line([str(cell) for cell in astuple(row)]) for row in rows]
    first, after, alone = (
        sum(getattr(row, name) for row in rows) for name in ("questions", "after", "alone")
    )
    share = f" ({after / first:.2f})" if first else ""
    said = (
        f"Together {after} questions about the second after {first} about the first{share};"
        f" {alone} with nothing known."
    )
    return _HEAD.format(table="".join(lines), said=said)


def main() -> int:
    """Run from the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("--engine", required=True, metavar="TARGET")
    parser.add_argument("--rows", type=Path, default=RESULTS / "second_models.tsv")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "second_models.md")
    given = parser.parse_args()
    target = given.engine
    if not runs_here(load_target(target)):
        parser.error(f"this machine has no engine for {target}")
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        asked = [
            _asked(given.first, target, Path(one)),
            _asked(given.second, target, Path(one)),
            _asked(given.second, target, Path(other)),
        ]
    questions, after, alone = (ran.questions for ran in asked)
    codes = " ".join(str(ran.code) for ran in asked)
    rows = read(given.rows, Pair)
    names = (target, given.first.name, given.second.name)
    rows = [row for row in rows if (row.engine, row.first, row.second) != names]
    rows.append(Pair(*names, questions, after, alone, codes))
    rows.sort(key=lambda row: (row.engine, row.first, row.second))
    write(given.rows, Pair, rows)
    given.output.write_text(page(rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
