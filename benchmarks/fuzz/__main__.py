"""Repair and convert random small models and check what must hold of every result.

    python -m benchmarks.fuzz [--seconds 120] [--first 0] [--count N] [--keep FOLDER]

Each model is made from its seed (see `fuzz_models.py`), and is used where the checker accepts it
and onnxruntime runs it. It is then repaired for each target and converted to some opsets, without
graphfix's own verification, and of every result is asked: the checker is content, names and types
of inputs and outputs are as before, onnxruntime (optimisations off) computes the same on several
inputs, a second run finds nothing to apply, and no finding came that was not there. Special numbers
(NaN, infinities) are compared where every site says `exact`.

Writes `results/fuzz.md` (`-o` for another file), the models that fail to `--keep FOLDER`, and ends
with 1 when there are any.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import traceback
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import graphfix
from benchmarks import RESULTS
from benchmarks.children import call_in_child
from benchmarks.fuzz.models import default_feed, make_model
from graphfix.authoring.registry import all_passes
from graphfix.ir.storage.reading import walk_nodes

TARGETS = (
    "trt5.1", "trt6-fulldims", "trt7.0", "trt7.2", "trt8.0", "trt8.6", "trt10.0", "trt10.10",
    "trt11.1",
)  # fmt: skip
OPSETS = (9, 11, 13, 17, 21)
FAMILIES = ("mod", "scatter", "resize", "pooling", "lowering", "shape", "sequence")
KINDS = ("plain", "zeros", "ties", "special")
TOLERANCE = {"float64": 1e-6, "float32": 2e-3, "float16": 3e-2}
_GIB = 1024**3


def run_onnx(model: onnx.ModelProto, feeds: list[dict[str, Any]]) -> list[list[Any]]:
    """Run a model in onnxruntime with optimisations off."""
    onnxruntime: Any = import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    unnamed = onnx.ModelProto()  # onnxruntime does not take two nodes of one name
    unnamed.CopyFrom(model)
    for node in walk_nodes(unnamed):
        node.name = ""
    session = onnxruntime.InferenceSession(
        unnamed.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    known = {i.name for i in session.get_inputs()}
    return [session.run(None, {k: v for k, v in f.items() if k in known}) for f in feeds]


def difference(expected: Any, actual: Any) -> str:
    """Say how two outputs differ; empty where they are equal within the tolerance."""
    expected, actual = np.asarray(expected), np.asarray(actual)
    if expected.dtype != actual.dtype or expected.shape != actual.shape:
        return f"{actual.dtype}{actual.shape} for {expected.dtype}{expected.shape}"
    if expected.dtype.kind != "f":
        return "" if np.array_equal(expected, actual) else f"{actual.ravel()[:4]} differ"
    rtol = TOLERANCE.get(str(expected.dtype), 1e-3)
    one, two = expected.astype(np.float64), actual.astype(np.float64)
    finite = np.isfinite(one)
    top = float(np.max(np.abs(one[finite]), initial=1e-6))
    close = np.isclose(one, two, rtol=rtol, atol=rtol * min(max(top, 1e-2), 1.0), equal_nan=True)
    if np.all(close):
        return ""
    place = int(np.argmin(close))
    return f"{two.ravel()[place]} for {one.ravel()[place]}"


def jobs() -> list[tuple[str, dict[str, Any]]]:
    """Return what is done with each model."""
    wanted: list[tuple[str, dict[str, Any]]] = [(t, {"target": t}) for t in TARGETS]
    wanted += [(f"opset {n}", {"opset": n}) for n in OPSETS]
    return wanted + [(f"passes of {f}", {"passes": _family(f)}) for f in FAMILIES]


def _family(family: str) -> list[str]:
    """Return the passes of a family that rewrite nodes and change no output."""
    return [
        p.id
        for p in all_passes(())
        if p.kind == "rewrite"
        and p.accuracy.value != "lossy"
        and p.function.__module__.startswith(f"graphfix.passes.{family}.")
    ]


def examine(seed: int, keep: Path | None) -> list[tuple[str, str, str]]:
    """Return (job, status, what was seen) for every job on the model of a seed."""
    try:
        model, runnable, inputs = make_model(seed)
        onnx.checker.check_model(runnable, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    except Exception as error:
        return [("", "not a model", str(error).splitlines()[0][:200])]
    feeds = [default_feed(inputs, seed, kind) for kind in KINDS]
    try:
        with np.errstate(all="ignore"):
            expected = run_onnx(runnable, feeds)
    except Exception as error:
        return [("", "does not run", str(error).splitlines()[0][:200])]
    raw = model.SerializeToString(deterministic=True)
    found: list[tuple[str, str, str]] = []
    for job, arguments in jobs():
        # Passes by name run alone, so that an order that was wrong before stays so.
        given = runnable if "passes" in arguments else model
        try:
            status, seen = judge(graphfix, given, arguments, feeds, expected)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            text = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
            status, seen = "raised", text.replace("\n", " ")[:300]
        if model.SerializeToString(deterministic=True) != raw:
            status, seen = "changed its input", ""
        found.append((job, status, seen))
    if keep is not None and any(status not in GOOD for _, status, _ in found):
        onnx.save(model, keep / f"{seed}.onnx")  # pyright: ignore[reportUnknownMemberType]
    return found


# Their docs say how they treat a NaN or an infinity, which is not what the operator makes.
SPREADING = {"resize-linear-to-matmul", "resize-cubic-to-matmul", "quantize-dequantize-to-clip"}
GOOD = ("equal", "nothing to do", "lossy", "engine")


def judge(
    graphfix: Any,
    model: onnx.ModelProto,
    arguments: dict[str, Any],
    feeds: list[dict[str, Any]],
    expected: list[list[Any]],
) -> tuple[str, str]:
    """Return the status of one job and what was seen."""
    result = graphfix.run(model, verify="off", **arguments)
    after = result.model.to_proto()
    outcomes = result.report.outcomes
    failed = [o for o in outcomes if o.status.value == "failed"]
    if failed:
        return "failed pass", f"{failed[0].pass_id}: {failed[0].reason}"
    applied = [o for o in outcomes if o.status.value == "applied"]
    if not applied:
        if after != model:
            return "silent change", ""
        return "nothing to do", ""
    try:
        onnx.checker.check_model(after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    except Exception as error:
        return "checker", str(error).splitlines()[0]
    for name in ("input", "output"):
        if list(getattr(model.graph, name)) != list(getattr(after.graph, name)):
            return "interface", name
    exact = all(s.accuracy.value == "exact" for o in applied for s in o.sites)
    spreads = any(o.pass_id in SPREADING for o in applied)
    compared = feeds if exact and not spreads else feeds[:3]
    passes = ",".join(o.pass_id for o in applied)
    try:
        actual = run_onnx(after, compared)
    except Exception as error:
        if "NOT_IMPLEMENTED" in str(error):
            return "engine", str(error).splitlines()[0]
        return "does not run", f"{passes}: {str(error).splitlines()[0][:200]}"
    for kind, one, two in zip(KINDS, expected, actual, strict=False):
        for output, a, b in zip(after.graph.output, one, two, strict=True):
            text = difference(a, b)
            if text:
                return f"differs ({kind})", f"{passes}: {output.name}: {text}"
    if "target" in arguments:
        before, left = (
            Counter((f.rule, f.certain) for f in findings if f.blocks)
            for findings in (result.report.findings_before, result.report.findings_after)
        )
        new = {rule for rule, _ in left} - {rule for rule, _ in before}
        if new and len(list(left.elements())) > len(list(before.elements())):
            return "more findings", f"{passes}: {sorted(new)[:3]}"
    if "passes" in arguments:  # in the order of their names one may make work for an earlier one
        return "equal", ""
    again = graphfix.run(after, verify="off", **arguments)
    more = [o.pass_id for o in again.report.outcomes if o.status.value == "applied"]
    if more:
        return "not idempotent", f"{passes}: again {more}"
    return "equal", ""


def main() -> int:
    """Fuzz for the given time and write the table."""
    parser = argparse.ArgumentParser(description="see the head of this file")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1 << 30)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "fuzz.md")
    given = parser.parse_args()
    for module in ("graphfix", "onnxruntime", "graphfix.pipeline.finishing"):
        import_module(module)
    all_passes(())
    if given.keep:
        given.keep.mkdir(parents=True, exist_ok=True)
        given.keep = given.keep.resolve()
    table: dict[str, Counter[str]] = {}
    troubles: list[str] = []
    start, seed = time.monotonic(), given.first
    while time.monotonic() - start < given.seconds and seed < given.first + given.count:
        for job, status, seen in _isolated(seed, given.keep):
            table.setdefault(job or "(generator)", Counter())[status] += 1
            if job and status not in GOOD:
                troubles.append(f"{seed} {job}: {status}: {seen}")
                print(troubles[-1], flush=True)
        seed += 1
    seconds = time.monotonic() - start
    given.output.write_text(_page(table, troubles, given.first, seed, seconds), encoding="utf-8")
    print(given.output.read_text(encoding="utf-8"))
    return 1 if troubles else 0


def _isolated(seed: int, keep: Path | None) -> list[tuple[str, str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)

        def child() -> int:
            rows = examine(seed, keep)
            (scratch / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
            return 0

        ended = call_in_child(child, scratch, timeout=120, memory_bytes=6 * _GIB)
        rows = scratch / "rows.json"
        if rows.exists():
            return [tuple(row) for row in json.loads(rows.read_text(encoding="utf-8"))]
    why = "timeout" if ended.timed_out else f"exit {ended.code}"
    return [("(all)", "crashed", f"{why}: {ended.stderr[-300:]}")]


def _page(
    table: dict[str, Counter[str]], troubles: list[str], first: int, end: int, seconds: float
) -> str:
    statuses = sorted({s for row in table.values() for s in row})
    lines = [
        "# Random models",
        "",
        f"Seeds {first} to {end - 1}, {seconds:.0f} s; written by `benchmarks/fuzz/`. Rows are",
        "what was asked for, columns what became of the models.",
        "",
        "| job | " + " | ".join(statuses) + " |",
        "|---" * (len(statuses) + 1) + "|",
    ]
    lines += [
        f"| {job} | " + " | ".join(str(row.get(s, 0)) for s in statuses) + " |"
        for job, row in table.items()
    ]
    if troubles:
        lines += ["", *(f"- {trouble}".replace("|", "/") for trouble in troubles[:40])]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
