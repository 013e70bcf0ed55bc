"""Forests of many trees repaired for an engine without ai.onnx.ml: bytes, time and results.

    python -m benchmarks.forests [--trees 50 100 200 500] [--leaves 1000] [--target T] [-o FILE]

Trees grow as boosting libraries grow them, a leaf at a time and not level by level, from a seed.
Three forests of each size: a regressor, a regressor whose leaves hold integers, and a
classifier of three classes. Each is repaired without proofs, and run before and after in
onnxruntime on rows half of whose numbers lie on thresholds. Writes `results/forests.md`; 1 where
a result has more than 3 times the bytes, an integer differs, or bytes or seconds for a leaf grow
with the number of trees.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper

from benchmarks import RESULTS
from graphfix.api import run
from graphfix.testing import outputs_of

Array = np.ndarray[Any, Any]
COLUMNS, CLASSES, ROWS = 28, 3, 256
MOST_BYTES = 3.0  # times those of the file
MOST_BYTES_GROWN, MOST_SECONDS_GROWN = 1.1, 1.5  # for a leaf, from the fewest trees to the most
NEAR = 1e-5  # of the largest: floating point sums of other order
KINDS = ("regressor", "whole numbers", "classifier")


@dataclass(frozen=True)
class Row:
    """What became of one forest.

    Attributes:
        kind: One of `KINDS`.
        trees: How many trees it has.
        leaves: How many leaves they have together.
        before: Bytes of the file.
        after: Bytes of the result.
        nodes: Nodes of the result.
        seconds: What the repair took.
        apart: How far floating point outputs are apart, of the largest number.
        integers: How many integers of outputs differ, and integers in floating point.
    """

    kind: str
    trees: int
    leaves: int
    before: int
    after: int
    nodes: int
    seconds: float
    apart: float
    integers: int


def grown(leaves: int, rng: np.random.Generator) -> dict[str, list[Any]]:
    """Return a tree that was split at random leaves, each node before its children."""
    yes, no, open_ = [0], [0], [0]
    for _ in range(leaves - 1):
        at = open_.pop(int(rng.integers(len(open_))))
        yes[at], no[at] = len(yes), len(yes) + 1
        open_ += [len(yes), len(yes) + 1]
        yes += [0, 0]
        no += [0, 0]
    count = len(yes)
    ends = sorted(open_)
    branch = np.array(yes) > 0
    return {
        "nodes_nodeids": [*range(count)],
        "nodes_featureids": np.where(branch, rng.integers(COLUMNS, size=count), 0).tolist(),
        "nodes_modes": ["BRANCH_LEQ" if inner else "LEAF" for inner in branch],
        "nodes_truenodeids": yes,
        "nodes_falsenodeids": no,
        "nodes_values": np.where(branch, _quarters(rng, count), 0).tolist(),
        "ends": ends,
    }


def _quarters(rng: np.random.Generator, *shape: int) -> Array:
    """Return thresholds that rows can meet."""
    return np.round(rng.standard_normal(shape) * 4) / 4


def forest(kind: str, trees: int, leaves: int, seed: int = 0) -> ModelProto:
    """Return a forest as a file of one node."""
    rng = np.random.default_rng(seed)
    attributes: dict[str, list[Any]] = {"nodes_treeids": []}
    classes = kind == "classifier"
    head = "class" if classes else "target"
    votes: dict[str, list[Any]] = {
        f"{head}_{n}": [] for n in ("treeids", "nodeids", "ids", "weights")
    }
    for tree in range(trees):
        own = grown(leaves, rng)
        ends = own.pop("ends")
        attributes["nodes_treeids"] += [tree] * len(own["nodes_nodeids"])
        for name, numbers in own.items():
            attributes.setdefault(name, []).extend(numbers)
        votes[f"{head}_treeids"] += [tree] * leaves
        votes[f"{head}_nodeids"] += ends
        votes[f"{head}_ids"] += [tree % CLASSES if classes else 0] * leaves
        weights = rng.standard_normal(leaves) * 0.1
        whole = rng.integers(-1000, 1001, leaves).astype(float)
        votes[f"{head}_weights"] += (whole if kind == "whole numbers" else weights).tolist()
    attributes |= votes
    more: dict[str, Any] = {**attributes, "n_targets": 1}
    if classes:
        more = {**attributes, "classlabels_int64s": [7, 8, 9], "post_transform": "SOFTMAX"}
    width = CLASSES if classes else 1
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", width])]
    if classes:
        outputs.insert(0, helper.make_tensor_value_info("label", TensorProto.INT64, ["N"]))
    node = helper.make_node(
        "TreeEnsembleClassifier" if classes else "TreeEnsembleRegressor",
        ["x"],
        [output.name for output in outputs],
        domain="ai.onnx.ml",
        **more,
    )
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", COLUMNS])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    graph = helper.make_graph([node], "forest", [x], outputs)
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def rows(seed: int = 1) -> Array:
    """Return rows, half of whose numbers are thresholds."""
    rng = np.random.default_rng(seed)
    free, met = rng.standard_normal((ROWS, COLUMNS)), _quarters(rng, ROWS, COLUMNS)
    return np.where(rng.integers(2, size=(ROWS, COLUMNS)), free, met).astype(np.float32)


def measured(kind: str, trees: int, leaves: int, target: str) -> Row:
    """Repair a forest and compare what it gives.

    Raises:
        SystemExit: Something is left that the target does not take.
    """
    model = forest(kind, trees, leaves)
    start = time.process_time()
    result = run(model, target, verify="off")
    seconds = time.process_time() - start
    left = [finding for finding in result.report.findings_after if finding.blocks]
    if left:
        raise SystemExit(f"{kind} of {trees} trees: {left[0].message}")
    after = result.model.to_proto()
    feed = {"x": rows()}
    apart, integers = _compared(kind, outputs_of(model, feed), outputs_of(after, feed))
    return Row(
        kind,
        trees,
        trees * leaves,
        model.ByteSize(),
        after.ByteSize(),
        len(after.graph.node),
        seconds,
        apart,
        integers,
    )


def _compared(
    kind: str, before: Mapping[str, Array], after: Mapping[str, Array]
) -> tuple[float, int]:
    apart, integers = 0.0, 0
    for name, wanted in before.items():
        given = after[name]
        if wanted.dtype.kind == "i" or kind == "whole numbers":
            integers += int((given != wanted).sum())
        else:
            apart = max(apart, float(np.abs(given - wanted).max() / np.abs(wanted).max()))
    return apart, integers


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, write the page, and return 1 where a bound is not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, nargs="+", default=[50, 100, 200, 500])
    parser.add_argument("--leaves", type=int, default=1000)
    parser.add_argument("--target", default="trt8.6")
    parser.add_argument("-o", type=Path, default=RESULTS / "forests.md")
    given = parser.parse_args(arguments)
    measured("regressor", 2, 8, given.target)  # what is loaded once is no one's
    found = [
        measured(kind, trees, given.leaves, given.target)
        for kind in KINDS
        for trees in sorted(given.trees)
    ]
    beyond = list(_beyond(found))
    given.o.write_text(_page(found, given.leaves, given.target, beyond), encoding="utf-8")
    for line in beyond:
        print(line)
    return 1 if beyond else 0


def _beyond(found: Sequence[Row]) -> Iterator[str]:
    for row in found:
        what = f"{row.kind} of {row.trees} trees"
        if row.after > MOST_BYTES * row.before:
            yield f"{what}: {row.after / row.before:.2f} times the bytes"
        if row.integers:
            yield f"{what}: {row.integers} integers differ"
        if row.apart > NEAR:
            yield f"{what}: {row.apart:.1e} of the largest apart"
    for kind in KINDS:
        own = [row for row in found if row.kind == kind]
        few, many = own[0], own[-1]
        size = (many.after / many.leaves) / (few.after / few.leaves)
        spent = (many.seconds / many.leaves) / (few.seconds / few.leaves)
        if size > MOST_BYTES_GROWN:
            yield f"{kind}: {size:.2f} times the bytes for a leaf with the most trees"
        if spent > MOST_SECONDS_GROWN:
            yield f"{kind}: {spent:.2f} times the seconds for a leaf with the most trees"


def _page(found: Sequence[Row], leaves: int, target: str, beyond: Sequence[str]) -> str:
    lines = [
        "# Forests",
        "",
        f"`python -m benchmarks.forests --leaves {leaves} --target {target}`: forests of",
        f"{leaves} leaves a tree, grown a leaf at a time from a seed, {COLUMNS} columns. Repaired",
        "without proofs, then run before and after in onnxruntime on "
        f"{ROWS} rows half of whose numbers",
        "lie on thresholds. Bounds: at most "
        f"{MOST_BYTES:g} times the bytes; integers, and sums of whole",
        "numbers, bit for bit; other sums, which onnxruntime adds in another order, within "
        f"{NEAR:g} of",
        f"the largest; bytes for a leaf within {MOST_BYTES_GROWN:g} times and seconds within "
        f"{MOST_SECONDS_GROWN:g} times from the",
        "fewest trees to the most, which is linear.",
        "",
        "| forest | trees | leaves | bytes | bytes after | times | bytes a leaf | nodes after "
        "| CPU seconds | microseconds a leaf | apart | integers that differ |",
        "|---" * 12 + "|",
    ]
    for row in found:
        lines.append(
            f"| {row.kind} | {row.trees} | {row.leaves:,} | {row.before:,} | {row.after:,} "
            f"| {row.after / row.before:.2f} | {row.after / row.leaves:.1f} | {row.nodes} "
            f"| {row.seconds:.1f} | {1e6 * row.seconds / row.leaves:.1f} | {row.apart:.0e} "
            f"| {row.integers} |"
        )
    said = "Every bound is kept." if not beyond else "Not kept: " + "; ".join(beyond) + "."
    return "\n".join([*lines, "", said, ""])


if __name__ == "__main__":
    raise SystemExit(main())
