"""Repairs that wait for each other: what is left, although passes that remove it act when named.

    python -m benchmarks.corpus.waiting FOLDER --target T ... [--rows FILE] [--seconds 1800]

Each model of the folder that has problems left for a target is taken as it is then: the passes that
say that they remove what is left are run by name, one after the other in every order of at most
three, and the target is asked again. Where nothing is left then, the run stopped too early: each of
two repairs waited for the other, or one for a form that the other makes. Nothing is compared, so
that such a row is a question to be looked into, not a repair. Sizes that a target wants fixed are
drawn. A further run continues after the rows that are there; files come in a drawn order, the same
each time. Writes ``results/waiting.md``; ends with 1 where graphfix ended in a fault.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import onnx

import graphfix
from benchmarks import RESULTS
from benchmarks.children import call_in_child, graphfix_main
from benchmarks.ended import FAULT, code_with
from graphfix.engines.engine import engine_of
from graphfix.engines.targets import load_target
from graphfix.errors import GraphfixError, PassBug
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.report import Finding

_SECONDS, _MEMORY = 180.0, 6 << 30
_AT_ONCE = 3  # passes in one order
_ORDERS = 24
_DRAW = 3


@dataclass(frozen=True)
class Row:
    """One file for one target.

    Attributes:
        file: Its path in the folder.
        target: The target.
        left: How many problems a run leaves; -1 where it ended otherwise, or took too long.
        rules: What found them.
        passes: What says that it removes them.
        order: Passes by name after which nothing is left; empty for none.
        code: The exit code of the child.
    """

    file: str
    target: str
    left: int
    rules: Sequence[str] = ()
    passes: Sequence[str] = ()
    order: Sequence[str] = ()
    code: int = 0


def looked_into(path: Path, target: str, folder: Path) -> dict[str, Any]:
    """Return what is left of a model, and an order of passes after which nothing is."""
    shapes = _sizes(path) if engine_of(load_target(target).family).wants_sizes else None
    first = graphfix.run(path, target=target, shapes=shapes, verify="off")
    left = _blocking(first.report.findings_after)
    passes = sorted({name for finding in left for name in finding.removed_by})
    found: dict[str, Any] = {
        "left": len(left),
        "rules": sorted({finding.rule for finding in left}),
        "passes": passes,
    }
    kept = folder / "left.onnx"
    kept.write_bytes(first.model.to_proto().SerializeToString())
    tried = permutations(passes, min(_AT_ONCE, len(passes))) if left and passes else ()
    for order in list(tried)[:_ORDERS]:
        try:
            named = graphfix.run(kept, passes=list(order), verify="off")
            again = graphfix.run(named.model, target=target, verify="off")
        except PassBug:
            raise
        except GraphfixError:
            continue
        if not _blocking(again.report.findings_after):
            return {**found, "order": order}
    return found


def _blocking(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.blocks]


def _sizes(path: Path) -> Mapping[str, Sequence[int]]:
    model = onnx.ModelProto.FromString(path.read_bytes())
    feed: dict[str, Any] = FeedMaker(model).draw(0, _DRAW)
    open_ones = {
        info.name
        for info in model.graph.input
        if any(not dim.HasField("dim_value") for dim in info.type.tensor_type.shape.dim)
    }
    return {name: value.shape for name, value in feed.items() if name in open_ones}


def measured(root: Path, file: str, target: str) -> Row:
    """Look into a file in a child."""
    with tempfile.TemporaryDirectory(prefix="waiting-") as made:

        def call() -> int:
            try:
                seen = looked_into(root / file, target, Path(made))
            except PassBug:
                return FAULT
            except Exception:  # damaged files of the corpus
                seen = {"left": -1}
            Path(made, "found.json").write_text(json.dumps(seen), encoding="utf-8")
            return 0

        ended = call_in_child(call, Path(made), timeout=_SECONDS, memory_bytes=_MEMORY)
        said = Path(made, "found.json")
        text = said.read_text(encoding="utf-8") if said.exists() else '{"left": -1}'
        found: dict[str, Any] = json.loads(text)
        return Row(file, target, code=ended.code, **found)


def table(rows: Sequence[Row], wanted: int) -> str:
    """Return the page."""
    whole = [row for row in rows if row.left >= 0]
    left = [row for row in whole if row.left]
    targets = list(dict.fromkeys(row.target for row in rows))
    found = [row for row in left if row.order]
    lines = [
        "# Repairs that wait for each other",
        "",
        f"`python -m benchmarks.corpus.waiting FOLDER --target {' '.join(targets)}`: the first",
        f"{len(rows)} of {wanted} pairs of a file and a target, in a drawn order. In {len(left)}",
        f"problems are left, and in {len(found)} of these nothing is once passes that say that",
        "they remove what is left are run by name. Nothing was compared, nor an engine asked: it",
        "may be that a rule does not know what such a pass does to the engine.",
        "",
        "| file | target | left | found by | named in this order |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.file} | {row.target} | {row.left} | {', '.join(row.rules)} "
        f"| {', '.join(row.order)} |"
        for row in sorted(found, key=lambda row: (row.target, row.file))
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run from the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", required=True, nargs="+")
    parser.add_argument("--rows", type=Path, default=Path("waiting.jsonl"))
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after these")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "waiting.md")
    asked = parser.parse_args()
    folder: Path = asked.folder.resolve()  # a child works elsewhere
    rows: list[Row] = []
    if asked.rows.exists():
        rows = [Row(**json.loads(line)) for line in asked.rows.read_text("utf-8").splitlines()]
    done = {(row.file, row.target) for row in rows}
    files = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*.onnx"))
    pairs = [(file, target) for file in files for target in asked.target]
    random.Random(0).shuffle(pairs)
    graphfix_main()  # imported once, before children are forked
    start = time.monotonic()
    with asked.rows.open("a", encoding="utf-8") as stream:
        for file, target in pairs:
            if time.monotonic() - start > asked.seconds:
                break
            if (file, target) in done:
                continue
            row = measured(folder, file, target)
            rows.append(row)
            stream.write(json.dumps(asdict(row)) + "\n")
            stream.flush()
    asked.output.write_text(table(rows, len(pairs)), encoding="utf-8")
    return code_with(row.code for row in rows)


if __name__ == "__main__":
    raise SystemExit(main())
