"""Whether `check --engine` names the node that an engine refuses.

    python -m benchmarks.engines.refusals ENGINE ... [--each 20] [--rows FILE] [-o FILE]

One operator is planted at a random place among 8 to 15 ordinary nodes: a form that the profile of
the engine refuses, and that the engine itself, asked about that node alone, refuses too. The
ordinary nodes alone it takes. Then it is asked about the whole as ``check --verify engine`` does,
without what the rules know. A further run continues after the rows of the last.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto

import graphfix
from benchmarks import RESULTS
from benchmarks.differential.judge import run, session
from benchmarks.engines.kernels import Asker, cache
from benchmarks.engines.planted_graphs import planted
from benchmarks.engines.probes import arrays_of, stored
from graphfix.bisection.asking.engine_findings import with_engine
from graphfix.engines.targets import load_target
from graphfix.errors import GraphfixError
from graphfix.pipeline.files import CheckRequest, CheckResult
from graphfix.proving.inputs.maker import FeedMaker

Row = dict[str, Any]
_REFUSED = ("refused", "crashed")
_WRONG = "wrong"
_DIFFERENT = "computes-otherwise"
_PERCENT = 90


def refusals(target: str, wanted: int, known: Sequence[Row], folder: Path) -> Iterator[Row]:
    """Yield what is said of planted operators, no form of one twice.

    Args:
        target: The engine.
        wanted: How many refusals are asked for, those of earlier runs included.
        known: The rows of earlier runs.
        folder: For models.
    """
    forms = {(row["op"], row["since"]) for row in known if row["engine"] == target}
    rng = random.Random(f"{target} {len(forms)}")
    probes = list(stored(cache() / "models"))
    rng.shuffle(probes)
    asker = Asker(target)
    for path, probe in probes:
        if len(forms) >= wanted:
            break
        form = (probe["op"], probe["since"])
        row = None if form in forms else _row(target, asker, path, probe, rng, folder)
        if row is not None:
            forms.add(form)
            yield row
    asker.close()


def _row(
    target: str, asker: Asker, path: Path, known: Row, rng: random.Random, folder: Path
) -> Row | None:
    """Return what is said of one operator; None where it is not fit for the question."""
    if not _is_refused_by_profile(path, target):
        return None
    found = planted(onnx.ModelProto.FromString(path.read_bytes()), rng)
    if found is None or asker.verdict(path, *arrays_of(path, known))[0] not in _REFUSED:
        return None
    if not _takes(asker, found.control, folder / "control.onnx"):
        return None
    whole = folder / "whole.onnx"
    whole.write_bytes(found.model.SerializeToString())
    request = CheckRequest(whole, target=target)
    said = with_engine(request, CheckResult(load_target(target), (), ())).findings
    if not said or said[0].rule == _DIFFERENT:
        return None  # not refused where it has other inputs
    return {
        "engine": target,
        "op": known["op"],
        "since": known["since"],
        "nodes": len(found.model.graph.node),
        "right": said[0].node.outputs == found.outputs,
        "named": [said[0].node.op, *said[0].node.outputs],
        "words": said[0].engine_text[:300],
    }


def _is_refused_by_profile(path: Path, target: str) -> bool:
    try:
        findings = graphfix.check(path, target)
    except GraphfixError:
        return False
    return any(each.blocks and each.certain and each.severity != _WRONG for each in findings)


def _takes(asker: Asker, model: ModelProto, path: Path) -> bool:
    """Say whether the engine takes a model that onnxruntime runs."""
    path.write_bytes(model.SerializeToString())
    drawn = FeedMaker(model).draw(0)
    given = {name: value for name, value in drawn.items() if isinstance(value, np.ndarray)}
    names = [info.name for info in model.graph.output]
    expected = dict(zip(names, run(session(model), given), strict=True))
    return asker.verdict(path, given, expected)[0] not in _REFUSED


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of the page."""
    right = sum(row["right"] for row in rows)
    yield "# Whether `check --engine` names the node that an engine refuses"
    yield ""
    yield (
        "One operator that the engine refuses among 8 to 15 ordinary nodes that it takes; no form"
        " of an operator twice for an engine. Made by `python -m benchmarks.engines.refusals"
        " ENGINE ...`."
    )
    yield from ("", "| engine | refusals | right node named |", "|---|---|---|")
    for engine in sorted({row["engine"] for row in rows}):
        those = [row for row in rows if row["engine"] == engine]
        yield f"| {engine} | {len(those)} | {sum(row['right'] for row in those)} |"
    yield f"| all | {len(rows)} | {right} ({100 * right / max(len(rows), 1):.1f}%) |"
    wrong = [row for row in rows if not row["right"]]
    if wrong:
        yield from ("", "| engine | planted | named | the engine's words |", "|---|---|---|---|")
    for row in wrong:
        said = " ".join(row["words"].split()).replace("|", "/").replace("<", "&lt;")[:160]
        named = row["named"][0] or "none"
        yield f"| {row['engine']} | {row['op']} {row['since']} | {named} | {said} |"


def main() -> int:
    """Run from the command line; 1 where fewer than nine of ten are named rightly."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("engines", nargs="+", metavar="ENGINE")
    parser.add_argument("--each", type=int, default=20, metavar="N", help="refusals per engine")
    parser.add_argument("--rows", type=Path, default=Path("refusals.jsonl"))
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "refusals.md")
    given = parser.parse_args()
    rows: Path = given.rows
    lines = rows.read_text(encoding="utf-8").splitlines() if rows.is_file() else []
    found: list[Row] = [json.loads(line) for line in lines]
    with tempfile.TemporaryDirectory() as folder, rows.open("a") as stream:
        for engine in given.engines:
            for row in refusals(load_target(engine).name, given.each, tuple(found), Path(folder)):
                found.append(row)
                stream.write(json.dumps(row) + "\n")
                stream.flush()
    given.output.write_text("\n".join(table(found)) + "\n", encoding="utf-8")
    print("\n".join(table(found)))
    return int(100 * sum(row["right"] for row in found) < _PERCENT * len(found))


if __name__ == "__main__":
    raise SystemExit(main())
