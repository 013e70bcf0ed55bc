"""Check every model of some folders for every target, and repair a sample of them.

    python -m benchmarks.sweep FOLDER ... [--runs 100] [--rows ROWS.jsonl] [--part K/N]

Each file is read, and its types are inferred, once for all targets. A rule that raises and any
other exception that is no error of the user is a fault. Every file is in a child of its own, with
600 s and 8 GiB. ROWS takes a line for each file that is done, and a sweep continues after them;
several at once take a part each, and the rows of all make the page, ``results/sweep.md``. Ends with
1 where there is a fault, or a child did not end by itself.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

if __name__ == "__main__":  # before numpy is imported: children inherit no pool of threads
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import msgspec
from msgspec import Struct

from benchmarks import RESULTS
from benchmarks.children import call_in_child, graphfix_main
from benchmarks.sweep.faults import Fault, Swept, check_faults, run_fault, settings_of_all
from graphfix.engines.targets import target_names
from graphfix.pipeline.settings import Settings

_SECONDS, _MEMORY = 600.0, 8 << 30
_SHOWN = 20
_SEED = 27


class Row(Struct, frozen=True):
    """One file.

    Attributes:
        name: Where it lies.
        targets: How many targets it was checked for.
        seconds: CPU seconds of that.
        run: The target that it was repaired for; empty for none.
        run_seconds: CPU seconds of that.
        faults: What raised.
        refused: Why it cannot be read or checked; empty where it can.
        ended: How its child ended, where it did not end by itself.
    """

    name: str
    targets: int
    seconds: float
    run: str
    run_seconds: float
    faults: tuple[Fault, ...]
    refused: str = ""
    ended: str = ""


def arguments(words: Sequence[str]) -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--runs", type=int, default=100, help="how many files are repaired as well")
    parser.add_argument("--rows", type=Path, help="takes a line for each file that is done")
    parser.add_argument("--part", help="K/N: each N-th file from the K-th; no page is written")
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    """Sweep, write the page, return the exit code."""
    given = arguments(words)
    files = sorted(path for folder in given.folders for path in folder.rglob("*.onnx"))
    names = {path: str(Path(path.parent.name) / path.name) for path in files}
    drawn = random.Random(_SEED)
    chosen = {path: drawn.choice(target_names()) for path in drawn.sample(files, len(files))}
    repaired = dict(list(chosen.items())[: given.runs])
    known = _known(given.rows)
    first, count = map(int, given.part.split("/")) if given.part else (0, 1)
    wanted = [path for path in files[first::count] if str(path) not in known]
    graphfix_main()  # imports all modules, once for all children
    asked = settings_of_all()
    one = partial(_swept, asked=asked, rows=given.rows)
    done = [one(path, repaired.get(path, "")) for path in wanted]
    rows = [*(known[str(path)] for path in files if str(path) in known), *done]
    page = table(rows, {str(path): name for path, name in names.items()})
    print(page)
    if not given.part:
        (RESULTS / "sweep.md").write_text(page, encoding="utf-8")
    return int(any(row.faults or row.ended for row in rows))


def _known(path: Path | None) -> dict[str, Row]:
    if path is None or not path.is_file():
        return {}
    rows = [msgspec.json.decode(line, type=Row) for line in path.read_bytes().splitlines()]
    return {row.name: row for row in rows}


def _swept(path: Path, run: str, *, asked: dict[str, Settings], rows: Path | None) -> Row:
    with tempfile.TemporaryDirectory(prefix="sweep-") as folder:
        scratch = Path(folder)
        answer = scratch / "row.json"

        place = path.resolve()  # the child works in another folder

        def work() -> int:
            checked = check_faults(place, asked)
            seconds = _cpu()
            repaired = run_fault(place, run) if run else Swept(())
            faults = (*checked.faults, *repaired.faults)
            refused = checked.refused or repaired.refused
            spent = _cpu() - seconds
            row = Row(str(path), len(asked), seconds, run, spent, faults, refused)
            answer.write_bytes(msgspec.json.encode(row))
            return 0

        ended = call_in_child(work, scratch, timeout=_SECONDS, memory_bytes=_MEMORY)
        if answer.is_file():
            row = msgspec.json.decode(answer.read_bytes(), type=Row)
        else:
            how = (
                "timed out"
                if ended.timed_out
                else f"code {ended.code}: {' '.join(ended.stderr[-200:].split())}"
            )
            row = Row(str(path), len(asked), ended.seconds, run, 0.0, (), "", how)
    if rows is not None:
        with rows.open("ab") as file:
            file.write(msgspec.json.encode(row) + b"\n")
    return row


def _cpu() -> float:
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in spent)


def table(rows: Sequence[Row], names: dict[str, str]) -> str:
    """Return the page of a sweep.

    Args:
        rows: Its rows.
        names: What each file is called there.
    """
    repaired = [row for row in rows if row.run]
    targets = max((row.targets for row in rows), default=0)
    faults = [(row, fault) for row in rows for fault in row.faults]
    lines = [
        "# Every file, every target",
        "",
        f"`python -m benchmarks.sweep corpus fixtures --runs {len(repaired)}`",
        "",
        "| what | number |",
        "|---|---|",
        f"| files | {len(rows)} |",
        f"| of these, such as graphfix refuses to read | {sum(bool(r.refused) for r in rows)} |",
        f"| targets | {targets} |",
        f"| checks | {sum(row.targets for row in rows if not row.refused):,} |",
        f"| CPU seconds of the checks | {sum(row.seconds for row in rows):,.0f} |",
        f"| of these, of the slowest file | {max((row.seconds for row in rows), default=0):,.0f} |",
        f"| runs, each for a target drawn by chance | {len(repaired)} |",
        "| CPU seconds of the runs, without those of the children that compare"
        f" | {sum(row.run_seconds for row in repaired):,.0f} |",
        f"| files that ended the process, or took more than {_SECONDS:.0f} s"
        f" | {sum(bool(row.ended) for row in rows)} |",
        f"| exceptions | {len(faults)} |",
    ]
    if faults or any(row.ended for row in rows):
        lines += ["", "| what raised | how often | first at |", "|---|---|---|"]
        counted = Counter((fault.rule, fault.said) for _, fault in faults)
        for (rule, said), count in counted.most_common(_SHOWN):
            row, fault = next(p for p in faults if (p[1].rule, p[1].said) == (rule, said))
            lines.append(f"| {rule} {said} | {count} | {names[row.name]}, {fault.target} |")
        lines += [f"| {row.ended} | 1 | {names[row.name]} |" for row in rows if row.ended]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
