"""Run every file of a folder through `graphfix run` and write how it ended and what it took.

    python -m benchmarks.pipelines FOLDER --target T [--rows ROWS.jsonl] [--pattern P]
        [--seconds S] [-o OUT.md] [-- OPTIONS]

FOLDER is what makes files of today's exporters, with the variants that quantizers and converters
write. Processor time is that of the command and all of its children. ROWS takes a line for each
file that is done, and a further run continues after it; after S seconds no file is begun, and no
table is written (3). Ends with 1 where a run ended with 5 or by a signal, where a comparison says
nothing because of a limit, or where a run took too long.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks import RESULTS
from benchmarks.pipelines.row import Row, adopt_orphans, run_file
from benchmarks.pipelines.table import faults, page

_UNFINISHED = 3


def arguments(words: Sequence[str]) -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", required=True)
    parser.add_argument("--rows", type=Path, help="keep what is done there, and go on from it")
    parser.add_argument("--pattern", default="*", help="which files, such as '*merged*'")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after these")
    parser.add_argument("--patience", type=float, default=300.0, help="seconds for one file")
    parser.add_argument("-o", "--output", type=Path, help="default: results/pipelines-TARGET.md")
    parser.add_argument("options", nargs="*", help="after `--`: for `graphfix run`")
    return parser.parse_args(words)


def kept_rows(path: Path | None) -> dict[str, Row]:
    """Return the rows that an earlier run kept, by file."""
    if path is None or not path.is_file():
        return {}
    lines = path.read_bytes().splitlines()
    return {row.file: row for row in (msgspec.json.decode(line, type=Row) for line in lines)}


def main(words: Sequence[str]) -> int:
    """Run the benchmark; return its exit code."""
    given = arguments(words)
    begun = time.monotonic()
    root: Path = given.folder.resolve()
    names = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.onnx"))
    names = [name for name in names if fnmatch.fnmatch(name, given.pattern)]
    rows = kept_rows(given.rows)
    adopt_orphans()
    for name in names:
        if name in rows:
            continue
        if time.monotonic() - begun > given.seconds:
            return _UNFINISHED
        path = root / name
        row = run_file(path, name, given.target, given.options, given.patience, alone=True)
        rows[name] = row
        if given.rows is not None:
            with given.rows.open("ab") as stream:
                stream.write(msgspec.json.encode(row) + b"\n")
        print(f"{row.code} {row.verification or '-'} {row.cpu:.1f} s  {name}  {row.reason}")
    found = [rows[name] for name in names]
    output = given.output or RESULTS / f"pipelines-{given.target}.md"
    output.write_text(page(found, given.target), encoding="utf-8")
    wrong = faults(found)
    for line in wrong:
        print(line, file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
