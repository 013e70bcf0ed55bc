"""Every argument of every foreign operator that a pass replaces, set to what it is not by default.

    python -m benchmarks.arguments aten --rows FILE [--only OPERATOR ...]
                                        [--layouts named unnamed attributes]    (needs PyTorch)
    python -m benchmarks.arguments registered CASES --rows FILE
    python -m benchmarks.arguments table FILE...                 (writes results/arguments.md)

`aten` calls every overload of `graphfix/operators/arguments/aten.txt` with PyTorch, with
each argument once at another value that shows, and has the passes of ATen repair a node with
these arguments in three layouts, without proofs: the result is equal, or refused. `registered` does
so with the attributes of the models of a list of `benchmarks.coverage` (`cases LIST FILE` makes
CASES), where onnxruntime, which runs the node as it is, is the judge. Both end with 1 where a
result differs or does not run.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

WRONG = ("differs", "does not run", "failed")


def main(arguments: Sequence[str] | None = None) -> int:
    """Make rows, or the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    aten = commands.add_parser("aten")
    aten.add_argument("--rows", type=Path, required=True)
    aten.add_argument("--only", nargs="*", default=[], help="operators")
    aten.add_argument("--layouts", nargs="*", default=["named", "unnamed", "attributes"])
    registered = commands.add_parser("registered")
    registered.add_argument("cases", type=Path)
    registered.add_argument("--rows", type=Path, required=True)
    table = commands.add_parser("table")
    table.add_argument("rows", type=Path, nargs="+")
    given = parser.parse_args(arguments)
    if given.command == "table":
        from benchmarks.arguments.table import write

        return write(given.rows)
    made: Iterator[dict[str, Any]]
    if given.command == "aten":
        from benchmarks.arguments.aten import rows

        made = rows(given.only, given.layouts)
    else:
        from benchmarks.arguments.registered import rows as registered_rows

        made = registered_rows(given.cases)
    wrong = 0
    with given.rows.open("w", encoding="utf-8") as out:
        for row in made:
            wrong += row["verdict"] in WRONG
            out.write(json.dumps(row) + "\n")
            out.flush()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
