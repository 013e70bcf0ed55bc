"""Repairs the node tests of onnx that TensorRT rejects, and compares with what the tests expect.

    python -m benchmarks.tensorrt.repairs FACTS [--target trt8.6] [--pattern P] [-o FILE]

FACTS is the folder with ``verdicts/models.zip`` and ``verdicts/verdicts.json``: the test models of
onnx 1.13.1 and 1.16.0, each as it is and with its secondary inputs made initializers. A model
counts as repaired when `run` leaves no finding that blocks and the result gives the test's own
expected outputs, which the installed onnx makes (`onnx.backend.test.case.node`); models whose test
changed since or went are compared with the original in onnxruntime.

What cannot be expressed, and why, is reported by the model alone, never by the name of the test:

* an input or output has an element type that the engine has no form for: the interface does not
  change without consent;
* an input or output is a sequence, an optional or a map;
* an operator's output has a size that depends on values (Compress, NonZero, Unique, ...), or it
  treats text, pictures, gradients or chance, which an engine of tensors does not have;
* an operand that fixes shapes (axes, sizes, bounds, repeats, trip counts) depends on the numbers of
  an input, not on its shape alone: no graph whose shapes are known before does the same.

Writes the share that is repaired, and the rest ranked by operator with the reason.
"""

from __future__ import annotations

import fnmatch
import json
import time
import warnings
import zipfile
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, numpy_helper

from benchmarks import RESULTS
from graphfix.api import run
from graphfix.errors import GraphfixError, PassBug
from graphfix.report import Status
from graphfix.testing import outputs_of

Array = np.ndarray[Any, Any]
TAKEN = frozenset(
    {
        TensorProto.FLOAT,
        TensorProto.FLOAT16,
        TensorProto.DOUBLE,
        TensorProto.INT8,
        TensorProto.INT32,
        TensorProto.INT64,
        TensorProto.BOOL,
        TensorProto.UINT8,
    }
)
PRODUCER = "backend-test"
# Operators without a static form, by the reason.
BEYOND: dict[str, str] = {
    **dict.fromkeys(("Compress", "NonZero", "Unique", "NonMaxSuppression"), "size from values"),
    **dict.fromkeys(("StringNormalizer", "TfIdfVectorizer"), "text"),
    **dict.fromkeys(("StringConcat", "StringSplit", "RegexFullMatch"), "text"),
    **dict.fromkeys(("ImageDecoder",), "pictures"),
    **dict.fromkeys(("Gradient", "Adagrad", "Adam", "Momentum"), "training"),
    **dict.fromkeys(("Bernoulli", "Multinomial", "RandomNormal", "RandomUniform"), "chance"),
    **dict.fromkeys(("RandomNormalLike", "RandomUniformLike"), "chance"),
}
# Operator -> operands that fix the shape of the result, by position.
SHAPING: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("Squeeze", "Unsqueeze", "Split"), (1,)),
    **dict.fromkeys(("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"), (1,)),
    **dict.fromkeys(("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp"), (1,)),
    "ReduceSumSquare": (1,),
    "DFT": (1, 2),
    "Slice": (1, 2, 3, 4),
    "Loop": (0,),
    "MaxUnpool": (2,),
    "Reshape": (1,),
    "Expand": (1,),
    "Pad": (1, 3),
    "CenterCropPad": (1,),
    "Col2Im": (1, 2),
    "AffineGrid": (1,),
    "Resize": (2, 3),
    "Upsample": (1,),
    "Range": (0, 1, 2),
    "Tile": (1,),
    "OneHot": (1,),
    "TopK": (1,),
    "ConstantOfShape": (0,),
    **dict.fromkeys(("HannWindow", "HammingWindow", "BlackmanWindow"), (0,)),
    "MelWeightMatrix": (0, 1, 2, 3, 4),
    "STFT": (1, 3),
    "Dropout": (2,),
}


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one model: its status, and the reason where it is not repaired."""

    name: str
    op: str
    status: str
    reason: str = ""


def depending(model: ModelProto) -> set[str]:
    """Return the tensors of the main graph that depend on the values of an input."""
    graph = model.graph
    found = {value.name for value in graph.input} - {t.name for t in graph.initializer}
    for node in graph.node:
        if node.op_type not in ("Shape", "Size") and found.intersection(node.input):
            found.update(node.output)
    return found


def beyond(model: ModelProto) -> str:
    """Return why a model cannot be expressed; empty where it can."""
    graph = model.graph
    given = depending(model)
    for value in (*graph.input, *graph.output):
        if not value.type.HasField("tensor_type"):
            return f"{value.type.WhichOneof('value')} at the ends of the model"
        kind = value.type.tensor_type.elem_type
        if kind not in TAKEN:
            return f"{TensorProto.DataType.Name(kind)} at the ends of the model"
    training = {t.name for t in graph.initializer if numpy_helper.to_array(t).any()}
    for node in graph.node:
        if node.op_type == "Dropout" and set(node.input[2:]) & training:
            return "Dropout: chance"
        if node.op_type in BEYOND:
            return f"{node.op_type}: {BEYOND[node.op_type]}"
        for place in SHAPING.get(node.op_type, ()):
            if place < len(node.input) and node.input[place] in given:
                return f"{node.op_type}: shapes depend on the numbers of an input"
    return ""


@cache
def tests() -> dict[str, Any]:
    """Return the node tests of the installed onnx by name."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {case.name: case for case in collect_testcases(None)}


def expected(name: str, model: ModelProto) -> tuple[dict[str, Array], dict[str, Array]] | None:
    """Return inputs and expected outputs of a test, or None where the test is not the same."""
    case = tests().get(name.rpartition("/")[2])
    if case is None or not case.data_sets:
        return None
    before = [value.name for value in case.model.graph.input]
    fixed = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    inputs = dict(zip(before, map(np.asarray, case.data_sets[0][0]), strict=False))
    names = [value.name for value in model.graph.output]
    outputs = dict(zip(names, map(np.asarray, case.data_sets[0][1]), strict=False))
    for key, array in fixed.items():
        if key in inputs and not same(inputs[key], array):
            return None
    for value in model.graph.input:
        kind = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        if value.name not in inputs:
            continue
        sizes = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        given = inputs[value.name]
        fits = len(sizes) == given.ndim and all(
            not size or size == there for size, there in zip(sizes, given.shape, strict=True)
        )
        if given.dtype != kind or not fits:
            return None
    wanted = {value.name for value in model.graph.input if value.name not in fixed}
    if not wanted <= set(inputs) or len(outputs) != len(names):
        return None
    return {key: inputs[key] for key in wanted}, outputs


def made(model: ModelProto) -> tuple[dict[str, Array], dict[str, Array]] | None:
    """Return inputs and what the model as it is gives for them."""
    random = np.random.default_rng(0)
    fixed = {t.name for t in model.graph.initializer}
    feed: dict[str, Array] = {}
    for value in model.graph.input:
        if value.name in fixed:
            continue
        kind = value.type.tensor_type
        dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))
        shape = [dim.dim_value or 2 for dim in kind.shape.dim]
        draw = random.standard_normal(shape) if dtype.kind == "f" else random.integers(0, 2, shape)
        feed[value.name] = np.asarray(draw).astype(dtype)
    try:
        return feed, outputs_of(model, feed)
    except Exception:  # whatever the engine says: there is nothing to compare with
        return None


def same(one: Array, two: Array) -> bool:
    """Say whether two results are equal up to the tolerance of onnx's own test runner."""
    if one.shape != two.shape or one.dtype != two.dtype:
        return False
    if one.dtype.kind == "f":
        return bool(np.allclose(one, two, rtol=1e-3, atol=1e-6, equal_nan=True))
    return bool(np.array_equal(one, two))


def judge(name: str, model: ModelProto, op: str, target: str) -> Row:
    """Repair one model and compare."""
    why = beyond(model)
    if why:
        return Row(name, op, "beyond", why)
    try:
        result = run(model, target, verify="off")
    except (GraphfixError, PassBug) as error:
        return Row(name, op, "fault", str(error).partition("\n")[0])
    left = [f for f in result.report.findings_after if f.blocks]
    if left:
        refused = [
            f"{o.pass_id}: {o.reason}"
            for o in result.report.outcomes
            if o.status in (Status.REFUSED, Status.FAILED)
        ]
        said = f"{left[0].severity} {left[0].feature} at {left[0].node.op}"
        return Row(name, op, "left", "; ".join([said, *refused[:1]])[:200])
    data = expected(name, model) or made(model)
    if data is None:
        return Row(name, op, "no numbers", "neither the test nor an engine gives any")
    feed, wanted = data
    try:
        given = outputs_of(result.model.to_proto(), feed)
    except Exception as error:  # whatever the engine says is the finding
        return Row(name, op, "does not run", str(error).replace("\n", " ")[:160])
    wrong = [key for key in wanted if not same(np.asarray(given[key]), wanted[key])]
    return Row(name, op, "mismatch", ", ".join(wrong)) if wrong else Row(name, op, "repaired")


def rows_of(facts: Path, target: str, pattern: str) -> list[Row]:
    """Judge every model that the target's parser rejects."""
    verdicts: Mapping[str, Any] = json.loads((facts / "verdicts" / "verdicts.json").read_text())
    rows: list[Row] = []
    with zipfile.ZipFile(facts / "verdicts" / "models.zip") as archive:
        for name, verdict in verdicts.items():
            said = verdict[target]
            if said["ok"] or not fnmatch.fnmatch(name, pattern):
                continue
            model = onnx.load_from_string(archive.read(f"{name}.onnx"))
            if model.producer_name != PRODUCER:
                continue  # PyTorch exports are among the tests; the node tests are onnx's own
            rows.append(judge(name, model, said.get("op") or "", target))
    return rows


def table(target: str, rows: list[Row], seconds: float) -> list[str]:
    """Return the lines of the result."""
    counts = Counter(row.status for row in rows)
    able = len(rows) - counts["beyond"]
    lines = [
        f"# Node tests that {target} rejects, repaired",
        "",
        f"{len(rows)} models are rejected; {able} can be expressed, of which {counts['repaired']} "
        f"({100 * counts['repaired'] / max(1, able):.1f}%) have no finding left and give the "
        f"expected outputs. Doing nothing repairs none. {seconds:.0f} s of CPU.",
        "",
        "| status | models |",
        "|---|---|",
        *(f"| {status} | {count} |" for status, count in counts.most_common()),
        "",
        "## What is left, by operator",
        "",
        "| operator | models | status | reason |",
        "|---|---|---|---|",
    ]
    rest = Counter(
        (row.op, row.status, row.reason) for row in rows if row.status not in ("repaired", "beyond")
    )
    lines += [f"| {o} | {n} | {s} | {r} |" for (o, s, r), n in rest.most_common()]
    lines += ["", "## What cannot be expressed", "", "| reason | models |", "|---|---|"]
    reasons = Counter(row.reason for row in rows if row.status == "beyond")
    lines += [f"| {reason} | {count} |" for reason, count in reasons.most_common()]
    return lines


def main() -> None:
    """Run from the command line."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("facts", type=Path)
    parser.add_argument("--target", default="trt8.6")
    parser.add_argument("--pattern", default="*")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "trt-repairs.md")
    options = parser.parse_args()
    start = time.process_time()
    rows = rows_of(options.facts, options.target, options.pattern)
    lines = table(options.target, rows, time.process_time() - start)
    options.output.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
