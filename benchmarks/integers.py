"""Measure how much of quantized networks stays in 8 bits, and at which error.

    python -m benchmarks.integers FOLDER [--rows FILE] [-o FILE]

FOLDER is what `benchmarks.pipelines.generate` wrote: a folder for each tool, and networks by
exporter in it. Of each kind of quantization the smallest networks that have products in 8 bits are
taken, and one of timm or ultralytics first. Each is repaired for six
targets with --allow-lossy, and for TensorRT 10 without it and compared as a whole, and with
a draw of inputs that the report had not seen. It continues after the rows that are there.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto

from benchmarks import RESULTS
from graphfix.analysis.inference import infer_model
from graphfix.analysis.integer_products import integer_products
from graphfix.api import run
from graphfix.engines.targets import load_target
from graphfix.ir.model import Model
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.proving.values.kinds import Feed
from graphfix.report import Report
from graphfix.worker.sessions import open_session

Row = dict[str, Any]
TARGETS = ("trt8", "trt10", "trt-rtx", "openvino", "tflite", "qnn")
# Kind, and how many networks of it.
KINDS = {
    "qdq": 7,
    "qdq-symmetric": 5,
    "qoperator": 7,
    "qoperator-int8": 6,
    "int8-dynamic": 4,
    "int8-dynamic-channels": 4,
    "uint8-dynamic": 4,
    "modelopt-int8": 2,
    "neural-smooth": 1,
}
_FIRST = ("timm", "timm-dynamo", "ultralytics")
_MOST_FIRST = 1  # networks of these, which are larger
_COMPARED = "trt10"
_FRESH = (1, 2)  # seeds
_DRAWS = 8  # of sizes


def networks(folder: Path, kind: str) -> Iterator[Path]:
    """Yield the networks of a kind that have products in 8 bits, in the order in which to take."""
    files = sorted((folder / kind).rglob("*.onnx"), key=lambda path: path.stat().st_size)
    first = [path for path in files if path.parent.name in _FIRST][:_MOST_FIRST]
    for path in (*first, *(each for each in files if each not in first)):
        if _places(path):
            yield path


def _places(path: Path) -> int:
    model = Model(ModelProto.FromString(path.read_bytes()), base_dir=str(path.parent))
    infer_model(model)
    return integer_products(model).places


def measured(path: Path, name: str) -> Row:
    """Return what becomes of one network: products that stay by target, errors, nodes."""
    places = _places(path)
    row: Row = {"network": name, "products": places, **with_consent(path, places)}
    exact = run(path, _COMPARED, verify="full")
    found = exact.report.integers
    row["without"] = places if found is None else found.after
    row["equal"] = str(exact.report.verification.status)
    row["nodes without"] = exact.model.node_count()
    stated, *fresh = (
        run(path, _COMPARED, allow_lossy=True, verify="full", seed=seed).report
        for seed in (0, *_FRESH)
    )
    row["status"] = str(stated.verification.status)
    expected = stated.verification.expected_rel
    row["stated"] = _error(stated) if expected is None else expected
    row["fresh"] = max(map(_error, fresh))
    return row


def with_consent(path: Path, places: int) -> Row:
    """Return by target the products that stay, none where a problem is left, and the nodes."""
    row: Row = {"kept": {}, "nodes": {}}
    for target in TARGETS:
        shapes = _sizes(path) if load_target(target).static_shapes else None
        made = run(path, target, allow_lossy=True, verify="off", shapes=shapes)
        found = made.report.integers
        kept = (places, 1.0) if found is None else (found.after, found.share)
        left = any(finding.blocks for finding in made.report.findings_after)
        row["kept"][target] = (0, 0.0) if left else kept
        row["nodes"][target] = made.model.node_count()
    return row


def _sizes(path: Path) -> dict[str, tuple[int, ...]]:
    """Return sizes of inputs that it runs with, for a target that takes none that are open."""
    maker = FeedMaker(ModelProto.FromString(path.read_bytes()))
    feed: Feed = {}
    for attempt in range(_DRAWS):
        feed = maker.draw(0, attempt)
        try:
            open_session(path.read_bytes(), folder=str(path.parent)).run(None, feed)
        except Exception:  # onnxruntime's exceptions have no common base
            continue
        break
    return {name: np.asarray(value).shape for name, value in feed.items()}


def _error(report: Report) -> float:
    return max((o.max_rel or 0.0 for o in report.verification.outputs), default=0.0)


def page(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of the page."""
    yield "# Quantized networks that stay in 8 bits\n"
    yield f"`python -m benchmarks.integers FOLDER`, {len(rows)} networks. With `--allow-lossy`,"
    yield "the products in 8 bits that stay so (and their share of the multiply-adds, where sizes"
    yield "are known), of results of which no problem is left;"
    yield f"without it, for {_COMPARED}, the same and how the result compares.\n"
    head = " | ".join(TARGETS)
    yield f"| kind | networks | products | {head} | without | equal without |"
    yield "|---" * (len(TARGETS) + 5) + "|"
    kinds: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        kinds[str(row["network"]).partition("/")[0]].append(row)
    for kind, some in kinds.items():
        cells = [_kept(some, target) for target in TARGETS]
        equal = sum(row["equal"] == "equal" for row in some)
        total = sum(row["products"] for row in some)
        yield (
            f"| {kind} | {len(some)} | {total} | {' | '.join(cells)} | "
            f"{sum(row['without'] for row in some)} | {equal} |"
        )
    yield "\nThe rest: dynamic quantization has no scales before the network runs; onnx2tf does not"
    yield "round in QuantizeLinear; QNN leaves other operators of some networks to the CPU, as Erf."
    yield "It takes no open sizes: networks have some there that they run with. Its integers may be"
    yield "a step from ONNX's, which is a note where it is consented to.\n"
    yield "The error is the largest difference relative to the largest value of an output: what the"
    yield "report of a run expects 99 of 100 other inputs to stay below, and the most of 42 other"
    yield "draws.\n"
    yield "| network | products | stays | nodes without, with | compared | stated | fresh |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        yield (
            f"| {row['network']} | {row['products']} | {row['kept'][_COMPARED][0]} | "
            f"{row['nodes without']}, {row['nodes'][_COMPARED]} | {row['status']} | "
            f"{row['stated']:.2g} | {row['fresh']:.2g} |"
        )
    lossy = [row for row in rows if row["status"] == "lossy"]
    beyond = [row["fresh"] / row["stated"] for row in lossy if row["fresh"] > row["stated"] > 0]
    yield (
        f"\nOf {len(lossy)} that differ, {len(beyond)} differ more than that, at most by a"
        f" factor of {max(beyond, default=1.0):.2g}."
    )


def _kept(rows: Sequence[Row], target: str) -> str:
    kept = [row["kept"][target] for row in rows]
    shares = [share for _, share in kept if share is not None]
    part = f" ({sum(shares) / len(shares):.0%})" if shares else ""
    return f"{sum(places for places, _ in kept)}{part}"


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=list(KINDS))
    parser.add_argument("--rows", type=Path, default=Path("/tmp/integers.jsonl"))
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "integers.md")
    given = parser.parse_args()
    kept: Path = given.rows
    known = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    rows: dict[str, Row] = {row["network"]: row for row in map(json.loads, known)}
    for kind in given.kinds:
        for path in islice(networks(given.folder, kind), KINDS[kind]):
            name = str(path.relative_to(given.folder).with_suffix(""))
            if name in rows:
                continue
            rows[name] = measured(path, name)
            with kept.open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps(rows[name])}\n")
            print(json.dumps(rows[name]), flush=True)
    given.output.write_text("\n".join(page(list(rows.values()))) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
