"""Measure what repaired networks cost in onnxruntime, next to the files that they were made from.

    python -m benchmarks.speed.cost FOLDER ... --target T ... [--every N] [--pattern P] [--again]

Each network that a repair changes and onnxruntime runs before and after is timed with one thread
and onnxruntime's own optimizations, the two in turns. The least time of each counts: what else the
machine does only adds. Writes `results/cost.tsv` and `.md`, and `rendering/pass_costs.json`, which
the pages on passes show. It continues after the rows that are there; `--again` measures those again
that take longer than they may. Ends with 1 where a network of a kind takes more than its limit.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import onnx
from google.protobuf.message import DecodeError

from benchmarks import RESULTS, ROOT
from benchmarks.children import call_in_child, graphfix_main
from benchmarks.unseen import tables
from graphfix.proving.whole.timing import TimingRequest, samples_of

COSTS = ROOT / "graphfix" / "rendering" / "pass_costs.json"
LIMITS = {"float": 2.0, "trees": 2.0, "quantized": 1.5}
_FLOOR = 50.0  # microseconds; below, it is calls of nodes and of onnxruntime that are measured
_SECONDS, _MEMORY = 120.0, 12 << 30


@dataclass(frozen=True)
class Row:
    """What one repaired network costs.

    Attributes:
        target: What it was repaired for.
        network: The file below its folder.
        kind: One of `LIMITS`.
        nodes, nodes_after: Nodes of all graphs before and after.
        bytes, bytes_after: Bytes of the files.
        before, after: The least microseconds of a call; 0 where it was not timed.
        passes: The repairs, without those that run for any target.
        why: Why it was not timed.
    """

    target: str
    network: str
    kind: str = ""
    nodes: int = 0
    nodes_after: int = 0
    bytes: int = 0
    bytes_after: int = 0
    before: float = 0.0
    after: float = 0.0
    passes: str = ""
    why: str = ""

    @property
    def ratio(self) -> float:
        """How many times the time of the original it takes."""
        return self.after / self.before

    @property
    def counts(self) -> bool:
        """Whether the original takes long enough for its nodes to be measured."""
        return self.before >= _FLOOR


def kind_of(model: onnx.ModelProto) -> str:
    """Return what limit a network is held to."""
    operators = {node.op_type for graph in graphs_of(model) for node in graph.node}
    if any(name.startswith("TreeEnsemble") for name in operators):
        return "trees"
    whole = ("QLinear", "QuantizeLinear", "DequantizeLinear", "DynamicQuantize")
    if any(name.startswith(whole) or name.endswith("Integer") for name in operators):
        return "quantized"
    return "float"


def graphs_of(model: onnx.ModelProto) -> Iterator[onnx.GraphProto]:
    """Yield the main graph and those within it."""
    left = [model.graph]
    while left:
        graph = left.pop()
        yield graph
        for node in graph.node:
            left += [a.g for a in node.attribute if a.HasField("g")]
            left += [one for a in node.attribute for one in a.graphs]


def nodes_of(model: onnx.ModelProto) -> int:
    """Return how many nodes its graphs have, without constants."""
    return sum(node.op_type != "Constant" for graph in graphs_of(model) for node in graph.node)


def measured(path: Path, network: str, target: str, main: Callable[[Sequence[str]], int]) -> Row:
    """Repair a network and time both files, each in a child of its own."""
    row = Row(target, network)
    with tempfile.TemporaryDirectory(prefix="cost-") as folder:
        scratch = Path(folder)
        out = scratch / "out.onnx"
        words = ["run", str(path), "--target", target, "-o", str(out), "--json", "--trust-rules"]
        ended = call_in_child(
            lambda: main([*words, "--verify", "off"]),
            scratch,
            timeout=_SECONDS,
            memory_bytes=_MEMORY,
        )
        if not out.exists():
            return replace(row, why="not written")
        try:
            row = _described(row, path, out, json.loads(ended.stdout))
        except DecodeError:
            return replace(row, why="not a file that onnxruntime reads")
        if not row.passes:
            return replace(row, why="nothing repaired")

        def times() -> int:
            print(json.dumps([min(each) for each in samples_of(TimingRequest((path, out)))]))
            return 0

        ended = call_in_child(times, scratch, timeout=_SECONDS, memory_bytes=_MEMORY)
        if ended.code:
            said = (ended.stderr.strip().splitlines() or ["it took too long"])[-1]
            return replace(row, why=" ".join(said.split())[:120])
        first, second = json.loads(ended.stdout)
        return replace(row, before=round(first, 1), after=round(second, 1))


def _described(row: Row, path: Path, out: Path, answer: Any) -> Row:
    before = onnx.ModelProto.FromString(path.read_bytes())
    after = onnx.ModelProto.FromString(out.read_bytes())
    applied = [one for one in answer["outcomes"] if one["status"] == "applied"]
    names = sorted({one["pass"] for one in applied})
    return replace(
        row,
        kind=kind_of(before),
        nodes=nodes_of(before),
        nodes_after=nodes_of(after),
        bytes=path.stat().st_size,
        bytes_after=out.stat().st_size,
        passes=" ".join(names),
    )


def networks(folders: Sequence[Path], pattern: str, every: int) -> list[tuple[str, Path]]:
    """Return the files, each with its name below its folder."""
    found = [
        (path.relative_to(folder).as_posix(), path)
        for folder in folders
        for path in sorted(folder.rglob("*.onnx"))
    ]
    return [one for one in found if fnmatch.fnmatch(one[0], pattern)][::every]


def page(rows: Sequence[Row]) -> str:
    """Return the page."""
    timed_rows = [row for row in rows if row.before]
    lines = [
        "# What repaired networks cost",
        "",
        "`python -m benchmarks.speed.cost FOLDER --target T` (`--every N` for a sample, which the",
        "numbers of files show): time of the result over that of the original in onnxruntime, one",
        f"thread, the least of 80 turns. Networks of less than {_FLOOR:g} microseconds are left",
        "out of the figures and the limits: there the time is that of calls, a half microsecond",
        "for a node. `nodes` is the median of the nodes after over those before.",
        "",
        "| target | files | kind | networks | median | most | over the limit | nodes "
        "| shorter, median | shorter, most |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for target in sorted({row.target for row in timed_rows}):
        for kind, limit in LIMITS.items():
            own = [row for row in timed_rows if (row.target, row.kind) == (target, kind)]
            full, short = [row for row in own if row.counts], [row for row in own if not row.counts]
            ratios = [row.ratio for row in full]
            files = str(sum(row.target == target for row in rows))
            cells = [
                target,
                files,
                kind,
                str(len(full)),
                _figure(ratios, median),
                _figure(ratios, max),
            ]
            cells += [f"{sum(ratio > limit for ratio in ratios)} (of {limit:g})"]
            cells += [_figure([row.nodes_after / max(row.nodes, 1) for row in full], median)]
            ratios = [row.ratio for row in short]
            cells += [f"{_figure(ratios, median)} ({len(short)})", _figure(ratios, max)]
            lines.append(tables.line(cells).rstrip())
    over = [row for row in timed_rows if row.ratio > LIMITS[row.kind]]
    over.sort(key=lambda row: (not row.counts, -row.ratio))
    lines += ["", "## Over their limit, shorter ones last", ""]
    lines += [
        "| network | target | ratio | microseconds | nodes | repairs |",
        "|---|---|---|---|---|---|",
    ]
    for row in over:
        times, nodes = f"{row.before:g} to {row.after:g}", f"{row.nodes} to {row.nodes_after}"
        cells = [row.network, row.target, f"{row.ratio:.2f}", times, nodes, row.passes]
        lines.append(tables.line(cells).rstrip())
    return "\n".join([*lines, ""])


def pass_costs(rows: Sequence[Row]) -> str:
    """Return for each pass how many networks it repaired, their median ratio and the largest."""
    found: dict[str, list[float]] = {}
    for row in rows:
        for name in row.passes.split() if row.before else ():
            found.setdefault(name, []).append(round(row.ratio, 2))
    lines = [
        f"{json.dumps(name)}: {json.dumps([len(own), round(median(own), 2), max(own)])}"
        for name, own in sorted(found.items())
    ]
    return "{" + ",\n".join(lines) + "}\n"


def _figure(numbers: Sequence[float], of: Callable[[Sequence[float]], float]) -> str:
    return f"{of(numbers):.2f}" if numbers else ""


def is_slow(row: Row) -> bool:
    """Say whether a network takes longer than those of its kind may."""
    return bool(row.before) and row.counts and row.ratio > LIMITS[row.kind]


def main(words: Sequence[str] | None = None) -> int:
    """Measure, write both files, and return 1 where a limit is passed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--target", nargs="+", required=True)
    parser.add_argument("--every", type=int, default=1, help="only each Nth network")
    parser.add_argument("--pattern", default="*")
    parser.add_argument("--again", action="store_true", help="measure again what is over its limit")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "cost.tsv")
    given = parser.parse_args(words)
    rows = {(row.target, row.network): row for row in tables.read(given.output, Row)}
    graphfix = graphfix_main()
    for network, path in networks(given.folders, given.pattern, given.every):
        for target in given.target:
            done = rows.get((target, network))
            if done is None or (given.again and is_slow(done)):
                rows[target, network] = measured(path.resolve(), network, target, graphfix)
                tables.write(given.output, Row, rows.values())
    given.output.with_suffix(".md").write_text(page([*rows.values()]), encoding="utf-8")
    if given.output == RESULTS / "cost.tsv":
        COSTS.write_text(pass_costs([*rows.values()]), encoding="utf-8")
    return int(any(is_slow(row) for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
