"""Networks that are repaired, and those that are cut where the report proposes it.

    python -m benchmarks.cuts FOLDER --target rknn2.3 trt8.6 [--files 'yolo*.onnx' ...]
        [--rows FILE] [--verify engine] [--seconds S]

Each file of the folder is repaired for each target. Where something is left and the report names
sizes, it is repaired with these; where it names a cut, the two commands that it prints are run as
they are: the cut, and the repair of its front. What was proved of a file for one target is kept
for its next, as `graphfix batch` does. A further run continues after the rows that are
there, none begins after S seconds; writes ``results/detectors.md`` and ends with 1 where graphfix
ended in a fault.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import RESULTS
from benchmarks.children import Ended, Main, call_in_child, graphfix_main
from benchmarks.ended import code_with

_SECONDS, _MEMORY = 900.0, 8 << 30
# As `graphfix.rendering` prints a cut and what comes next.
_PRINTED = re.compile(r"`graphfix (edit [^`]* --split [^`]*)`.*`graphfix (run [^`]*)`")
_SIZES = re.compile(r"`(--shape [^`]*)` with your own sizes fixes what is open")


@dataclass(frozen=True)
class Row:
    """One file for one target.

    Attributes:
        file: Its name.
        target: The target.
        code: The exit code of the run, with the sizes that it asks for.
        compared: The verdict of the comparison.
        cut: The command that the report prints to cut it, without its files; empty for none.
        front: The exit code of the run of the front; -1 where there is none.
        front_compared: The verdict of its comparison.
        left: The features of what is left; of the front, where there is one.
        seconds: Of all of it, by the clock.
        asked: Whether the engine itself ran what was compared last.
        sizes: The options for sizes that the report of a first run names; empty for none.
    """

    file: str
    target: str
    code: int
    compared: str
    cut: str = ""
    front: int = -1
    front_compared: str = ""
    left: str = ""
    seconds: float = 0.0
    asked: bool = False
    sizes: str = ""


@dataclass(frozen=True)
class Commands:
    """How commands of graphfix are run for one file.

    Attributes:
        main: graphfix's command line, see `benchmarks.children.graphfix_main`.
        verify: What `run` is to verify by.
        kept: A folder for what was proved of the file.
    """

    main: Main
    verify: str
    kept: Path

    def ended(self, words: Sequence[str], folder: Path) -> Ended:
        """Run a command in a child whose working folder this is."""
        return call_in_child(
            lambda: self.main(words), folder, timeout=_SECONDS, memory_bytes=_MEMORY
        )

    def repaired(self, words: Sequence[str], folder: Path) -> tuple[int, dict[str, Any], str]:
        """Return the exit code of a run, and its report in JSON and in Markdown."""
        reports = folder / "report.json", folder / "report.md"
        more = ["--verify", self.verify, "--certificates", str(self.kept)]
        # For the front too: without it a run ends with 1 where no engine was asked.
        more += ["--trust-rules", "--force"]
        for report in reports:
            report.unlink(missing_ok=True)
            more += ["--report", str(report)]
        code = self.ended([*words, *more], folder).code
        found, text = (
            report.read_text(encoding="utf-8") if report.is_file() else "" for report in reports
        )
        said: dict[str, Any] = json.loads(found) if found else {}
        return code, said, text


def measured(path: Path, target: str, commands: Commands) -> Row:
    """Repair a file, and the front of it where that is proposed."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="cuts-") as made:
        words = ["run", str(path.resolve()), "--target", target, "-o", "out.onnx"]
        code, said, text = commands.repaired(words, Path(made))
        named = _SIZES.search(text) if code == 1 else None
        if named is not None:
            code, said, text = commands.repaired([*words, *shlex.split(named[1])], Path(made))
        row = Row(path.name, target, code, _verdict(said), left=_left(said), asked=_asked(said))
        row = replace(row, sizes="" if named is None else named[1])
        printed = _PRINTED.search(text)
        if code == 1 and printed is not None:
            row = _cut(row, printed, commands, Path(made))
    return replace(row, seconds=round(time.monotonic() - start, 1))


def _cut(row: Row, printed: re.Match[str], commands: Commands, folder: Path) -> Row:
    """Run the two commands that a report prints; return the row with what became of the front."""
    cut, again = (shlex.split(command) for command in printed.groups())
    front = commands.ended(cut, folder).code
    row = replace(row, cut=cut[-1].partition("=")[0], front=front)
    if front:
        return replace(row, front_compared="not cut")
    code, said, _ = commands.repaired(again, folder)
    return replace(
        row, front=code, front_compared=_verdict(said), left=_left(said), asked=_asked(said)
    )


def _verdict(said: dict[str, Any]) -> str:
    return str(said.get("verification", {}).get("status", ""))


def _left(said: dict[str, Any]) -> str:
    kinds = ("reject", "wrong", "builder")
    left = [f["feature"] for f in said.get("findings_after", []) if f["severity"] in kinds]
    return " ".join(sorted(set(left)))


def _asked(said: dict[str, Any]) -> bool:
    return bool(said.get("engine", {}).get("did") == "ran")


def read(path: Path) -> list[Row]:
    """Return the rows that are there."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [Row(**json.loads(line)) for line in lines]


def page(rows: Sequence[Row], folder: str) -> str:
    """Return the page of some rows."""
    targets = list(dict.fromkeys(row.target for row in rows))
    lines = [
        "# Networks repaired and cut",
        "",
        f"`python -m benchmarks.cuts FOLDER --target ...`; {folder}",
        "",
        "| target | files | exit 0, equal | so with the sizes that the report asks for | "
        "exit 1, and the front 0 and equal | other | ran in the engine |",
        "|---|---|---|---|---|---|---|",
    ]
    for target in targets:
        of_it = [row for row in rows if row.target == target]
        kinds = Counter(map(kind_of, of_it))
        shown = [kinds.total(), *(kinds[kind] for kind in ("done", "sized", "cut", "other"))]
        shown.append(sum(row.asked for row in of_it))
        lines.append(f"| {target} | {' | '.join(map(str, shown))} |")
    others = [row for row in rows if kind_of(row) == "other"]
    if others:
        lines += ["", "| other | target | exit | compared | cut | its front | left |"]
        lines.append("|---|---|---|---|---|---|---|")
        lines += [
            f"| {r.file} | {r.target} | {r.code} | {r.compared} | {r.cut} | "
            f"{r.front_compared} | {r.left} |"
            for r in others
        ]
    where = "; s: with the sizes that the report asks for; e: the engine itself ran the result"
    lines += ["", f"0: exit 0 and equal; cut: exit 1, and the front ends with 0 and equal{where}."]
    lines += ["", f"| file | {' | '.join(targets)} |", f"|---|{'---|' * len(targets)}"]
    cells = {(row.file, row.target): _cell(row) for row in rows}
    lines += [
        f"| {file} | {' | '.join(cells.get((file, target), '') for target in targets)} |"
        for file in sorted({row.file for row in rows})
    ]
    return "\n".join(lines) + "\n"


def _cell(row: Row) -> str:
    shown = {"done": "0", "sized": "0", "cut": "cut", "other": f"**{row.code}**"}[kind_of(row)]
    return f"{shown}{' s' if row.sizes else ''}{' e' if row.asked else ''}"


def kind_of(row: Row) -> str:
    """Return what became of a file.

    ``done``; ``sized`` where it is done with the sizes that the report asks for; ``cut`` where the
    front of it is done; or ``other``.
    """
    if row.code == 0 and row.compared == "equal":
        return "sized" if row.sizes else "done"
    is_cut = row.code == 1 and row.front == 0 and row.front_compared == "equal"
    return "cut" if is_cut else "other"


def main(words: Iterable[str] | None = None) -> int:
    """Run from the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", required=True, nargs="+")
    parser.add_argument("--files", nargs="+", default=["*.onnx"], metavar="PATTERN")
    parser.add_argument("--rows", type=Path, default=Path("cuts.jsonl"))
    parser.add_argument("--verify", default="auto", choices=("auto", "engine"))
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after these")
    parser.add_argument("--of", default="", metavar="TEXT", help="what the files are, for the page")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "detectors.md")
    given = parser.parse_args(None if words is None else list(words))
    until = time.monotonic() + given.seconds
    rows = read(given.rows)
    there = {(row.file, row.target) for row in rows}
    command = graphfix_main()
    for path in sorted({path for pattern in given.files for path in given.folder.glob(pattern)}):
        with tempfile.TemporaryDirectory(prefix="proved-") as kept:
            commands = Commands(command, given.verify, Path(kept))
            for target in given.target:
                if (path.name, target) in there or time.monotonic() > until:
                    continue
                rows.append(measured(path, target, commands))
                with given.rows.open("a", encoding="utf-8") as book:
                    book.write(json.dumps(asdict(rows[-1])) + "\n")
    given.output.write_text(page(rows, given.of), encoding="utf-8")
    return code_with(row.code for row in rows)


if __name__ == "__main__":
    raise SystemExit(main())
