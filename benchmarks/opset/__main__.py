"""Convert models to other opsets and compare what they compute.

    python -m benchmarks.opset nodes [--source 28 22] [--variant whole initializers] [--to 17 13]
                                     [--kinds hand-written] [--pattern P] [--limit N] [--no-peers]
                                     [-o FILE]
    python -m benchmarks.opset corpus FOLDER [--to 17 13] [--pattern P] [--limit N] [-o FILE]

`nodes` takes the node tests that come with onnx, stamped with opset SOURCE where every operator of
the model has the same schema there, and compares with the expected outputs of the test. It takes
them whole, and with all inputs but the first stored in the model, and converts them down and up,
next to onnx.version_converter and a mere change of the number; `opset_nodes.py` says which tests
are inexpressible and so left out. `corpus` takes the `*.onnx` below FOLDER whose opset is higher
than the target and that onnxruntime runs, and compares with what the file itself computes, on the
`in_*` of the `.npz` next to it or on inputs that are made. Each conversion is what `graphfix run
MODEL --opset N` does. onnxruntime runs with optimisations off; where it has no kernel for a
converted node test the reference evaluator decides, and the table counts these. Operators that draw
numbers are compared by shape and dtype.

`engine` is a node test that onnxruntime fails as it comes, unconverted; `rolled back` a conversion
that graphfix itself found to be wrong.

Writes `results/opset-nodes.md` or `results/opset-corpus.md` (`-o` for another file) and ends with
1 when a converted model computes something else, fails the checker, or a conversion raised.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path

import onnx

from benchmarks import RESULTS
from benchmarks.children import call_in_child
from benchmarks.opset.conversions import CONVERTERS, DIED, WRONG, Row, complains, judge
from benchmarks.opset.corpus import corpus_rows
from benchmarks.opset.nodes import VARIANTS, NodeTest, inexpressible, node_tests
from benchmarks.opset.table import KINDS, corpus_table, kind_of, node_table
from graphfix.authoring.registry import all_passes
from graphfix.opset.adapting import adapters

DOWN = (21, 18, 17, 16, 15, 13, 11, 9)
_GIB = 1024**3
_SECONDS = 600.0
_TOGETHER = 40  # node tests in one child: to fork costs more than to convert


def node_rows(given: argparse.Namespace) -> tuple[list[Row], Counter[tuple[int, str, int, str]]]:
    """Convert every node test; return the rows and how many are left out."""
    rows: list[Row] = []
    left_out: Counter[tuple[int, str, int, str]] = Counter()
    for source in given.source:
        for variant in given.variant:
            tests = [
                test
                for test in node_tests(source, variant)
                if _wanted(test.name, given) and kind_of(test.name) in given.kinds
            ]
            jobs: list[tuple[NodeTest, list[int]]] = []
            for test in tests[: given.limit]:
                wanted = [target for target in given.to if test.leads_to(target, source)]
                counted = [target for target in wanted if not inexpressible(test.model, target)]
                for target in set(wanted) - set(counted):
                    left_out[(source, variant, target, kind_of(test.name))] += 1
                jobs.append((test, counted))
            for start in range(0, len(jobs), _TOGETHER):
                found = _node_rows(jobs[start : start + _TOGETHER], given)
                rows += [replace(row, source=source, variant=variant) for row in found]
                print(source, variant, start + _TOGETHER, file=sys.stderr)
    return rows, left_out


def _node_rows(jobs: Sequence[tuple[NodeTest, list[int]]], given: argparse.Namespace) -> list[Row]:
    """Convert some tests in one child; where that dies, each in a child of its own."""
    converters = list(CONVERTERS) if given.peers else ["graphfix"]

    def job() -> list[Row]:
        found: list[Row] = []
        for test, targets in jobs:
            complained = bool(complains(test.model))
            found += [
                replace(
                    judge(test.model, target, test.sets, True, complained, converter),
                    name=test.name,
                )
                for target in targets
                for converter in converters
            ]
        return found

    targets = jobs[0][1]
    rows = _in_child(job, Row(jobs[0][0].name, 0, ""), targets)
    if len(jobs) > 1 and any(row.status == DIED for row in rows):
        return [row for one in jobs for row in _node_rows([one], given)]
    return rows


def file_rows(given: argparse.Namespace) -> list[Row]:
    """Convert every model of a folder."""
    rows: list[Row] = []
    folder = given.folder.resolve()  # children run elsewhere
    paths = [(str(p.relative_to(folder)), p) for p in sorted(folder.rglob("*.onnx"))]
    for name, path in [pair for pair in paths if _wanted(pair[0], given)][: given.limit]:
        job = lambda name=name, path=path: corpus_rows(name, path, given.to)  # noqa: E731
        rows += _in_child(job, Row(name, 0, ""), given.to)
    return rows


def _wanted(name: str, given: argparse.Namespace) -> bool:
    return fnmatch.fnmatch(name, f"*{given.pattern}*")


def _in_child(job: Callable[[], list[Row]], origin: Row, targets: Sequence[int]) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="opset-") as folder:
        scratch = Path(folder)

        def call() -> int:
            found = [asdict(row) for row in job()]
            (scratch / "rows.json").write_text(json.dumps(found), encoding="utf-8")
            return 0

        ended = call_in_child(call, scratch, timeout=_SECONDS, memory_bytes=12 * _GIB)
        answer = scratch / "rows.json"
        if answer.is_file():
            return [Row(**fields) for fields in json.loads(answer.read_text(encoding="utf-8"))]
        why = "timed out" if ended.timed_out else f"code {ended.code}: {ended.stderr[-200:]}"
        reason = " ".join(why.split())
        return [replace(origin, target=t, status=DIED, reason=reason) for t in targets]


def table(rows: list[Row], body: Sequence[str], given: argparse.Namespace, seconds: float) -> str:
    """Return the page: what was measured, then the tables."""
    lines = [
        f"# Opset conversion: {given.kind}",
        "",
        f"onnx {onnx.__version__}, onnxruntime {import_module('onnxruntime').__version__}, "
        f"{len(rows)} conversions, {seconds:.0f} s.",
    ]
    return "\n".join([*lines, *body]) + "\n"


def main(words: Sequence[str]) -> int:
    """Run the sweep, write the table, and say whether anything went wrong."""
    newest = onnx.defs.onnx_opset_version()
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kind", nargs="?", default="nodes", choices=("nodes", "corpus"))
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--source", type=int, nargs="+", default=[newest, 22])
    parser.add_argument("--variant", nargs="+", default=list(VARIANTS), choices=VARIANTS)
    parser.add_argument("--to", type=int, nargs="+")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--pattern", default="", help="a part of the names of tests or files")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--no-peers", dest="peers", action="store_false")
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args(words)
    if given.kind == "corpus" and given.folder is None:
        parser.error("corpus needs a folder")
    if given.to is None:
        given.to = [17, 13, 11] if given.kind == "corpus" else [newest, *DOWN]
    # Children inherit what is loaded here, so that each of them starts at once.
    import_module("onnxruntime")
    import_module("graphfix.pipeline.finishing")
    all_passes()
    adapters()
    start = time.monotonic()
    if given.kind == "nodes":
        rows, left_out = node_rows(given)
        body = node_table(rows, left_out)
    else:
        rows = file_rows(given)
        body = ["", *corpus_table(rows)]
    text = table(rows, body, given, time.monotonic() - start)
    output = given.output or RESULTS / f"opset-{given.kind}.md"
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text, encoding="utf-8")
    print(output)
    own = [row for row in rows if row.converter == "graphfix"]
    return int(any(row.status in WRONG for row in own))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
