"""Networks that are repaired, and those that are cut where the report proposes it.

    python -m benchmarks.cuts FOLDER --target rknn2.3 trt8.6 [--files '*.onnx'] [--rows FILE]

Each file of the folder is repaired for each target. Where something is left and the report names a
cut, the command that it names is run, and then its front is repaired. A further run continues after
the rows that are there; writes ``results/cuts.md`` and ends with 1 where graphfix ended in a fault.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import RESULTS
from benchmarks.ended import code_with
from benchmarks.speed.commands import graphfix

_SECONDS = 900.0


@dataclass(frozen=True)
class Row:
    """One file for one target.

    Attributes:
        file: Its name.
        target: The target.
        code: The exit code of the run.
        compared: The verdict of the comparison.
        cut: Where the report says that it may be cut; empty where nowhere.
        front: The exit code of the run of the front; -1 where there is none.
        front_compared: The verdict of its comparison.
    """

    file: str
    target: str
    code: int
    compared: str
    cut: str = ""
    front: int = -1
    front_compared: str = ""


def measured(path: Path, target: str) -> Row:
    """Repair a file, and the front of it where that is proposed."""
    with tempfile.TemporaryDirectory(prefix="cuts-") as made:
        out, front = Path(made, "out.onnx"), Path(made, "front.onnx")
        code, said = _repaired(path, target, out)
        row = Row(path.name, target, code, _verdict(said))
        cut = ",".join(said.get("front", []))
        if code != 1 or not cut:
            return row
        where = f"{cut}={front},{Path(made, 'back.onnx')}"
        done = subprocess.run(
            graphfix("edit", str(out), "--split", where), capture_output=True, check=False
        )
        if done.returncode:
            return Row(row.file, target, code, row.compared, cut, done.returncode, "not cut")
        second, said = _repaired(front, target, Path(made, "front.out.onnx"))
        return Row(row.file, target, code, row.compared, cut, second, _verdict(said))


def _repaired(path: Path, target: str, out: Path) -> tuple[int, dict[str, Any]]:
    words = graphfix("run", str(path), "--target", target, "-o", str(out), "--force", "--json")
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=_SECONDS)
    try:
        said: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        said = {}
    return done.returncode, said


def _verdict(said: dict[str, Any]) -> str:
    return str(said.get("verification", {}).get("status", ""))


def read(path: Path) -> list[Row]:
    """Return the rows that are there."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [Row(**json.loads(line)) for line in lines]


def page(rows: Sequence[Row], folder: str) -> str:
    """Return the page of some rows."""
    lines = [
        "# Networks repaired and cut",
        "",
        f"`python -m benchmarks.cuts FOLDER --target ...`; {folder}",
        "",
        "| target | files | exit 0, equal | exit 1, and the front 0 and equal | other |",
        "|---|---|---|---|---|",
    ]
    for target in dict.fromkeys(row.target for row in rows):
        kinds = Counter(kind_of(row) for row in rows if row.target == target)
        shown = " | ".join(str(kinds[kind]) for kind in ("done", "cut", "other"))
        lines.append(f"| {target} | {kinds.total()} | {shown} |")
    others = [row for row in rows if kind_of(row) == "other"]
    if others:
        lines += ["", "| other | target | exit | compared | cut | its front |", "|---|" * 6]
        lines[-1] = "|---|---|---|---|---|---|"
        lines += [
            f"| {r.file} | {r.target} | {r.code} | {r.compared} | {r.cut} | {r.front_compared} |"
            for r in others
        ]
    return "\n".join(lines) + "\n"


def kind_of(row: Row) -> str:
    """Return ``done``, ``cut`` where the front of the file is done, or ``other``."""
    if row.code == 0 and row.compared == "equal":
        return "done"
    is_cut = row.code == 1 and row.front == 0 and row.front_compared in ("equal", "unchanged")
    return "cut" if is_cut else "other"


def main(words: Iterable[str] | None = None) -> int:
    """Run from the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", required=True, nargs="+")
    parser.add_argument("--files", default="*.onnx", metavar="PATTERN")
    parser.add_argument("--rows", type=Path, default=Path("cuts.jsonl"))
    parser.add_argument("--of", default="", metavar="TEXT", help="what the files are, for the page")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "cuts.md")
    given = parser.parse_args(None if words is None else list(words))
    rows = read(given.rows)
    there = {(row.file, row.target) for row in rows}
    for path in sorted(given.folder.glob(given.files)):
        for target in given.target:
            if (path.name, target) in there:
                continue
            rows.append(measured(path, target))
            with given.rows.open("a", encoding="utf-8") as book:
                book.write(json.dumps(asdict(rows[-1])) + "\n")
    given.output.write_text(page(rows, given.of), encoding="utf-8")
    return code_with(row.code for row in rows)


if __name__ == "__main__":
    raise SystemExit(main())
