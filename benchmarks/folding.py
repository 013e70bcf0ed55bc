"""Fold the node tests that come with onnx and compare with their expected outputs.

    python -m benchmarks.folding [--limit N] [--pattern P] [-o FILE]

Each model of onnx's node tests is folded twice: with every input but the first made an
initializer (`rest`), and with all of them (`all`). Its outputs get an Identity after them, because
what a graph outputs is never folded. The canonical passes run on it, and onnxruntime with
optimisations off (the reference evaluator where it has no kernel) has to give what the test expects
and, where that cannot be had, what the unfolded model gives. Constants that onnxruntime computes
are computed in this process, which saves a thousand starts; the tests cover the child process.

Writes `results/folding.md` and ends with 1 when a folded model computes something else, fails the
checker, grows by more than its constants, or raises.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
import time
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto
from onnx.backend.test.loader import load_model_tests

from benchmarks import RESULTS
from benchmarks.opset.comparison import difference, reference, run
from graphfix.analysis.folding.computed_constants import computed
from graphfix.api import run as run_passes

PASSES = ("constant-to-initializer", "identity-elimination", "fold-constants", "dead-code")
STATUSES = ("equal", "mismatch", "invalid", "raised", "grown", "does not run", "not repeatable")
RANDOM = frozenset(
    (
        "Bernoulli",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
    )
)
BAD = ("mismatch", "invalid", "raised", "grown")


@dataclass(frozen=True)
class Row:
    """What became of one model."""

    name: str
    variant: str
    status: str
    reason: str = ""
    folded: int = 0


def prepared(
    proto: ModelProto, values: Mapping[str, Any], *, keep: int
) -> tuple[ModelProto, dict[str, Any]]:
    """Return the model with its inputs from `keep` on as initializers, and feeds for the rest."""
    model = ModelProto()
    model.CopyFrom(proto)
    model.ir_version = max(model.ir_version, 4)
    feeds: dict[str, Any] = {}
    inputs = list(model.graph.input)
    del model.graph.input[:]
    for position, info in enumerate(inputs):
        value = values[info.name]
        constant = None if position < keep else _tensor(value, info)
        if constant is None:
            model.graph.input.append(info)
            feeds[info.name] = _array(value)
        else:
            model.graph.initializer.append(constant)
    for output in model.graph.output:
        inner = f"{output.name}.computed"
        for node in model.graph.node:
            node.output[:] = [inner if name == output.name else name for name in node.output]
            node.input[:] = [inner if name == output.name else name for name in node.input]
        model.graph.node.add(op_type="Identity", input=[inner], output=[output.name])
    return model, feeds


def _tensor(value: Any, info: onnx.ValueInfoProto) -> TensorProto | None:
    """Return a value as an initializer; None for sequences and optionals."""
    if not info.type.HasField("tensor_type"):
        return None
    if isinstance(value, TensorProto):
        result = TensorProto()
        result.CopyFrom(value)
        result.name = info.name
        return result
    return onnx.numpy_helper.from_array(np.asarray(value), info.name)


def _array(value: Any) -> Any:
    if isinstance(value, TensorProto):
        return onnx.numpy_helper.to_array(value)
    if isinstance(value, onnx.SequenceProto):
        return onnx.numpy_helper.to_list(value)
    return value


def fold(model: ModelProto) -> tuple[ModelProto, int, int]:
    """Run the canonical passes twice; return the model, and how many nodes it had and has."""
    passes = [*PASSES, *PASSES]
    result = run_passes(model, passes=passes, verify="off")
    faults = [o.reason for o in result.report.outcomes if o.status == "failed"]
    if faults:
        raise RuntimeError("; ".join(faults))
    folded = result.model.to_proto()
    return folded, len(model.graph.node), len(folded.graph.node)


def comparable(value: Any) -> Any:
    """Return float8 and its like as float32, which holds them all: NaN compares as NaN there."""
    if not hasattr(value, "dtype"):
        return value
    array: np.ndarray[Any, Any] = np.asarray(value)
    return array if array.dtype.kind in "biufcOUSM" else array.astype(np.float32)


def outputs_of(model: ModelProto, feeds: Mapping[str, Any]) -> list[Any] | None:
    """Run in onnxruntime, else in the reference evaluator; None where neither can."""
    for engine in (run, reference):
        try:
            return [comparable(value) for value in engine(model, feeds)]
        except Exception:
            continue
    return None


def judge(test: Any, variant: str) -> Row:
    """Fold one test and compare."""
    inputs, expected = test.data_sets[0]
    names = [info.name for info in test.model.graph.input]
    values = dict(zip(names, inputs, strict=False))
    keep = 1 if variant == "rest" else 0
    model, feeds = prepared(test.model, values, keep=keep)
    before = outputs_of(model, feeds)
    wanted = [comparable(_array(value)) for value in expected]
    if before is None:
        return Row(test.name, variant, "does not run", "not even before")
    again = outputs_of(model, feeds)
    if again is None or any(difference(a, b) for a, b in zip(again, before, strict=True)):
        # Training-mode BatchNormalization in onnxruntime changes its weights as it runs.
        return Row(test.name, variant, "not repeatable", "two runs of the unfolded model differ")
    if any(node.op_type in RANDOM for node in model.graph.node):
        return Row(test.name, variant, "not repeatable", "it draws random numbers")
    try:
        folded, had, has = fold(model)
    except Exception as error:
        return Row(test.name, variant, "raised", f"{type(error).__name__}: {str(error)[:200]}")
    reason = _complaint(model, folded)
    if reason:
        return Row(test.name, variant, "invalid", reason)
    if folded.ByteSize() > model.ByteSize() + (1 << 17):
        return Row(test.name, variant, "grown", f"{model.ByteSize()} to {folded.ByteSize()} bytes")
    after = outputs_of(folded, feeds)
    if after is None:
        return Row(test.name, variant, "mismatch", "it does not run any longer")
    for position, (one, old, right) in enumerate(zip(after, before, wanted, strict=True)):
        wrong = difference(one, right)
        if wrong and difference(old, right):
            wrong = difference(one, old)  # the engine itself does not give what the test expects
        if wrong:
            return Row(test.name, variant, "mismatch", f"output {position}: {wrong}")
    return Row(test.name, variant, "equal", "", had - has)


def _complaint(before: ModelProto, after: ModelProto) -> str:
    """Return what the checker says of the folded model and did not say of the other."""
    texts: list[str] = []
    for model in (before, after):
        try:
            onnx.checker.check_model(model, full_check=True)  # pyright: ignore[reportUnknownMemberType]
            texts.append("")
        except Exception as error:
            texts.append(" ".join(str(error).split())[:200])
    return texts[1] if texts[1] and not texts[0] else ""


def sweep(pattern: str, limit: int | None) -> list[Row]:
    """Judge every node test."""
    module: Any = import_module("graphfix.passes.canonical.fold_constants")
    module.run_constants = computed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        tests = [t for t in load_model_tests(kind="node") if fnmatch.fnmatch(t.name, pattern)]
    rows: list[Row] = []
    for count, test in enumerate(tests[:limit]):
        rows.extend(judge(test, variant) for variant in ("rest", "all"))
        if count % 100 == 99:
            print(count + 1, file=sys.stderr)
    return rows


def table(rows: Sequence[Row], seconds: float) -> str:
    """Return the figures, then what went wrong."""
    lines = [
        "# Constant folding: the node tests of onnx",
        "",
        f"onnx {onnx.__version__}, onnxruntime {import_module('onnxruntime').__version__}, "
        f"numpy {np.__version__}, {seconds:.0f} s.",
        "",
        "| constant inputs | models | nodes folded | " + " | ".join(STATUSES) + " |",
        "|---|---|---|" + "---|" * len(STATUSES),
    ]
    for variant in ("rest", "all"):
        part = [row for row in rows if row.variant == variant]
        counts = Counter(row.status for row in part)
        cells = [str(counts[status]) for status in STATUSES]
        folded = sum(row.folded for row in part)
        lines.append(f"| {variant} | {len(part)} | {folded} | " + " | ".join(cells) + " |")
    wrong = [row for row in rows if row.status in BAD]
    if wrong:
        lines += ["", "| model | constant inputs | status | reason |", "|---|---|---|---|"]
        lines += [f"| {r.name} | {r.variant} | {r.status} | {r.reason} |" for r in wrong]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Sweep, write the table, and say whether all is well."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pattern", default="*")
    parser.add_argument("--limit", type=int)
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "folding.md")
    given = parser.parse_args()
    start = time.monotonic()
    rows = sweep(given.pattern, given.limit)
    text = table(rows, time.monotonic() - start)
    given.output.parent.mkdir(exist_ok=True)
    given.output.write_text(text, encoding="utf-8")
    print(text)
    return 1 if any(row.status in BAD for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
