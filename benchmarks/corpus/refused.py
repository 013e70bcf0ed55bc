"""What becomes of the files that were refused, with what their user can say.

    python -m benchmarks.corpus.refused FOLDER --target T [--rows ROWS.jsonl] [-o OUT.md]

FOLDER is the open corpus. `refused.toml` lists the files, each with the options that are right for
it; each is run without and with them. ROWS takes a line for each run that is done: with it the
command continues where it was stopped. Writes `results/refused-TARGET.md` and ends with 1 where a
file that the list says is done is not, or one that is refused is done.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

if __name__ == "__main__":  # who imports this keeps the environment as it is
    # Before numpy is imported: a forked child must not inherit a pool of threads.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks import RESULTS
from benchmarks.children import graphfix_main
from benchmarks.corpus.__main__ import kept
from benchmarks.corpus.acceptance import is_done
from benchmarks.corpus.cells import cell
from benchmarks.corpus.row import Job, Row, run_job

LIST = Path(__file__).with_name("refused.toml")
_REFUSED = "refused"
_HOW = {
    "exact": "nothing is asked of the user",
    "consent": "inputs or outputs change, and the report says how",
    "plugin": "the user names the operators that the engine has as plugins",
    _REFUSED: "nothing done is right, or the file does not hold what is needed",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the list."""

    file: str
    how: str
    options: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Both:
    """A file run without and with its options."""

    entry: Entry
    plain: Row
    with_options: Row

    @property
    def fits(self) -> bool:
        """Whether what became of it is what the list says."""
        return is_done(self.with_options) is (self.entry.how != _REFUSED)


def entries(path: Path = LIST) -> list[Entry]:
    """Return the files of the list.

    Raises:
        ValueError: One says how in another word.
    """
    found = tomllib.loads(path.read_text(encoding="utf-8"))["file"]
    listed = [
        Entry(one["file"], one["how"], tuple(one.get("options", ())), one.get("why", ""))
        for one in found
    ]
    unknown = {entry.how for entry in listed} - set(_HOW)
    if unknown:
        raise ValueError(f"{path}: {unknown}")
    return listed


def page(runs: Sequence[Both], command: str) -> str:
    """Return the whole file."""
    count = Counter(run.entry.how for run in runs if run.fits)
    done = sum(is_done(run.with_options) for run in runs)
    lines = [
        "# Files that were refused",
        "",
        f"`{command}`",
        "",
        "The files of the open corpus that TensorRT 8.6 rejects or misreads and that graphfix did",
        "not finish when all of its passes were first there, with what their user can say of them.",
        "done: nothing left and equal outputs, as in `corpus-trt8.md`.",
        "",
        f"Done: {done} of {len(runs)}.",
        "",
        "| how | files | what that means |",
        "|---|---|---|",
        *(f"| {how} | {count[how]} | {meaning} |" for how, meaning in _HOW.items()),
        "",
        "| model | without options | options | with them | how | what is left |",
        "|---|---|---|---|---|---|",
    ]
    for run in runs:
        entry = run.entry
        options = cell(" ".join(entry.options), 200)
        left = entry.why or ("" if is_done(run.with_options) else _left(run.with_options))
        with_them = _state(run.with_options) if entry.options else ""
        lines.append(
            f"| {entry.file} | {_state(run.plain)} | {f'`{options}`' if options else ''} "
            f"| {with_them} | {entry.how} | {cell(left, 200)} |"
        )
    return "\n".join([*lines, ""])


def _state(row: Row) -> str:
    if is_done(row):
        return f"done, {row.verification}"
    left = f"{len(row.after)} left, " if row.after else ""
    return f"{left}exit {row.code} {row.verification}".rstrip()


def _left(row: Row) -> str:
    return "; ".join(row.left_because) or row.reason


def run(
    folder: Path, target: str, rows: Path | None, main: Callable[[Sequence[str]], int]
) -> list[Both]:
    """Run every file of the list without and with its options, telling of each on stderr."""
    done = kept(rows)
    found: list[Both] = []

    def row_of(entry: Entry, options: tuple[str, ...]) -> Row:
        name = " ".join((entry.file, *options))
        if name not in done:
            job = Job(name, folder / entry.file, target, options)
            done[name] = run_job(job, main)
            if rows is not None:
                with rows.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(asdict(done[name])) + "\n")
        print(f"{name}: {_state(done[name])}", file=sys.stderr, flush=True)
        return done[name]

    for entry in entries():
        found.append(Both(entry, row_of(entry, ()), row_of(entry, entry.options)))
    return found


def main(words: Sequence[str]) -> int:
    """Run them; see the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", required=True)
    parser.add_argument("--rows", type=Path, help="keep what is done there, and go on from it")
    parser.add_argument("-o", "--output", type=Path, help="default: results/refused-TARGET.md")
    given = parser.parse_args(words)
    root = given.folder.resolve()
    runs = run(root, given.target, given.rows, graphfix_main())
    command = f"python -m benchmarks.corpus.refused {given.folder} --target {given.target}"
    output = given.output or RESULTS / f"refused-{given.target}.md"
    output.write_text(page(runs, command), encoding="utf-8")
    done = sum(is_done(run.with_options) for run in runs)
    print(f"done: {done} of {len(runs)}; written: {output}")
    return 0 if all(run.fits for run in runs) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
