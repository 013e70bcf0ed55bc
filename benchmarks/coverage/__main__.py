"""The operators of lists, each repaired for a target and compared; those of ATen with PyTorch.

    python -m benchmarks.coverage list                          (needs PyTorch: writes aten.json)
    python -m benchmarks.coverage cells FOLDER                  (needs PyTorch and expecttest)
    python -m benchmarks.coverage judge FOLDER --rows FILE --target trt8.6 [--only NAME ...]
                                                [--most CELLS] [--seconds N] [--without-proofs]
    python -m benchmarks.coverage table FILE...                 (writes results/coverage-aten.md)
    python -m benchmarks.coverage keep FOLDER PASS...           (adds to fixtures/aten/results.npz)

Cells are made once; `judge` needs no PyTorch and says what is repaired without it, and with it
where it is installed. Runs are as a user's, proofs on; --without-proofs shows what they would take
back. It takes one cell of every operator before the second of any and continues after the rows that
are there.

The other lists, modules of `benchmarks/coverage/lists`:

    python -m benchmarks.coverage cases LIST FILE               (makes the models of a list, once)
    python -m benchmarks.coverage answer FILE --rows ROWS --target T [--seconds N] [--only NAME ...]
    python -m benchmarks.coverage page LIST ROWS... [--cases FILE]
                                                                (writes results/coverage-LIST.md)

`answer` takes one form of every entry before the second of any and continues after its rows.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.coverage import page
from benchmarks.coverage.cases import store
from benchmarks.coverage.cell_results import INDEX, exporting_here, judged, write
from benchmarks.coverage.kept_results import keep
from benchmarks.coverage.listed import write as write_list
from benchmarks.coverage.rows import answer
from benchmarks.coverage.table import written
from graphfix.authoring.pytorch.call import has_pytorch


def main(arguments: Sequence[str] | None = None) -> int:
    """Make cells, judge them, or write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list")
    making = commands.add_parser("cells")
    making.add_argument("folder", type=Path)
    making.add_argument("--most", type=int, default=2, help="calls of one operator and type")
    judging = commands.add_parser("judge")
    judging.add_argument("folder", type=Path)
    judging.add_argument("--rows", type=Path, required=True)
    judging.add_argument("--target", required=True)
    judging.add_argument("--only", nargs="*", default=[], help="operators")
    judging.add_argument("--most", type=int, default=1 << 30, help="cells of one operator")
    judging.add_argument("--seconds", type=float, default=float("inf"))
    judging.add_argument("--without-proofs", action="store_true")
    table = commands.add_parser("table")
    table.add_argument("rows", type=Path, nargs="+")
    keeping = commands.add_parser("keep")
    keeping.add_argument("folder", type=Path)
    keeping.add_argument("passes", nargs="+")
    _of_lists(commands)
    given = parser.parse_args(arguments)
    if given.command == "cases":
        print(store(given.list, given.file), "cases")
        return 0
    if given.command == "answer":
        return answer(given.file, given.rows, given.target, given.only, given.seconds)
    if given.command == "page":
        print(page.written(given.list, given.rows, given.cases))
        return 0
    if given.command == "keep":
        print(keep(given.folder, given.passes), "calls")
        return 0
    if given.command == "list":
        print(write_list(), "operators")
        return 0
    if given.command == "cells":
        return _make(given.folder, given.most)
    if given.command == "judge":
        return _judge(given)
    return written(given.rows)


def _of_lists(commands: Any) -> None:
    making = commands.add_parser("cases")
    making.add_argument("list", help="a module of benchmarks/coverage/lists")
    making.add_argument("file", type=Path)
    answering = commands.add_parser("answer")
    answering.add_argument("file", type=Path)
    answering.add_argument("--rows", type=Path, required=True)
    answering.add_argument("--target", required=True)
    answering.add_argument("--only", nargs="*", default=[], help="entries, or operators")
    answering.add_argument("--seconds", type=float, default=float("inf"))
    table = commands.add_parser("page")
    table.add_argument("list", help="a module of benchmarks/coverage/lists")
    table.add_argument("rows", type=Path, nargs="+")
    table.add_argument("--cases", type=Path, help="says which models have no form of fixed sizes")


def _make(folder: Path, most: int) -> int:
    from benchmarks.coverage.models import Cell, cells
    from benchmarks.coverage.traced import Traced, traces

    numbers: dict[tuple[str, str, str], int] = {}

    def made() -> Iterator[Cell]:
        for call in traces(most):
            if isinstance(call, Traced):
                key = (call.operator, call.overload, call.dtype)
                numbers[key] = numbers.get(key, 0) + 1
                yield from cells(call, numbers[key])

    print(write(folder, made()), "cells")
    return 0


def _judge(given: argparse.Namespace) -> int:
    folder, end = given.folder, time.monotonic() + given.seconds
    done = set[str]()
    if given.rows.is_file():
        done = {json.loads(line)["cell"] for line in given.rows.read_text("utf-8").splitlines()}
    wrong = 0
    here = exporting_here() if has_pytorch() else contextlib.nullcontext()
    with given.rows.open("a", encoding="utf-8") as out, here:
        for entry in _sample(folder, given.most):
            if entry["cell"] in done or (given.only and _operator(entry) not in given.only):
                continue
            start = time.monotonic()
            if start > end:
                break
            row = judged(folder, entry["file"], given.target, proofs=not given.without_proofs)
            wrong += row["verdict"] in ("wrong", "failed")
            head = {"cell": entry["cell"], "target": given.target, "pytorch": has_pytorch()}
            row = {**head, **row, "seconds": round(time.monotonic() - start, 2)}
            out.write(json.dumps(row) + "\n")
            out.flush()
    return 1 if wrong else 0


def _operator(entry: dict[str, Any]) -> str:
    return str(entry["cell"]).partition(".")[0]


def _sample(folder: Path, most: int) -> list[dict[str, Any]]:
    """Return cells by chance, one of every operator before the second of any."""
    entries = [json.loads(line) for line in (folder / INDEX).read_text("utf-8").splitlines()]
    random.Random(0).shuffle(entries)
    rounds: dict[str, int] = {}
    placed: list[tuple[int, dict[str, Any]]] = []
    for entry in entries:
        rounds[_operator(entry)] = rounds.get(_operator(entry), 0) + 1
        placed.append((rounds[_operator(entry)], entry))
    placed.sort(key=lambda item: item[0])
    return [entry for place, entry in placed if place <= most]


if __name__ == "__main__":
    sys.exit(main())
