"""The result of graphfix for a cell: refused, replaced and equal to PyTorch, or not equal."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import onnx

from benchmarks.coverage.models import Array, Cell
from benchmarks.opset.comparison import difference
from benchmarks.opset.comparison import run as run_in_onnxruntime
from graphfix import run
from graphfix.errors import GraphfixError
from graphfix.report import Verdict

INDEX = "cells.jsonl"
Row = dict[str, Any]


@contextlib.contextmanager
def exporting_here() -> Generator[None]:
    """Let PyTorch's exporter work in this process: a child for each cell would import PyTorch."""
    from graphfix.authoring.pytorch.exporter import export

    def ask(_: str, folder: Path, request: Any, limits: Any, __: type[object]) -> None:
        export(folder, request, limits)

    with mock.patch("graphfix.authoring.pytorch.translation.ask", ask):
        yield


def write(folder: Path, cells: Iterator[Cell]) -> int:
    """Write cells into a folder and return how many."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    with (folder / INDEX).open("w", encoding="utf-8") as index:
        for cell in cells:
            (folder / f"{count}.onnx").write_bytes(cell.model.SerializeToString())
            arrays = {f"e{at}": array for at, array in enumerate(cell.expected)}
            kept: dict[str, Any] = {**cell.feed, **arrays}
            np.savez(folder / f"{count}.npz", allow_pickle=False, **kept)
            index.write(json.dumps({"cell": cell.name, "file": count}) + "\n")
            count += 1
    return count


def judged(folder: Path, number: int, target: str, *, proofs: bool = True) -> Row:
    """Repair one cell for a target and compare.

    Args:
        folder: Where the cells lie.
        number: The cell.
        target: The target.
        proofs: Whether the run proves what it does, as a user's does. What the proofs roll back is
            refused; where they end the run with an error the cell failed, and it is wrong where
            they say that the result is.

    Returns:
        ``verdict``: equal, wrong, refused (no pass replaces it, or the target refuses what did) or
        failed (the result does not run, or the run ended with an error); ``by``: the pass;
        ``why``; ``proof``: what the comparison of the whole said, where there was one.
    """
    path = folder / f"{number}.onnx"
    with np.load(folder / f"{number}.npz") as arrays:
        feed = {name: arrays[name] for name in arrays.files if name.startswith("x")}
        expected = [arrays[f"e{at}"] for at in range(sum(n[0] == "e" for n in arrays.files))]
    try:
        result = run(path, target, verify="auto" if proofs else "off")
    except GraphfixError as error:
        return {"verdict": "failed", "why": str(error)[:200]}
    report = result.report
    proto = result.model.to_proto()
    calls = [n for n in proto.graph.node if n.op_type == "ATen"]
    applied = [o for o in report.outcomes if o.status.value == "applied" and "aten" in o.pass_id]
    row: Row = {"by": " ".join(sorted({o.pass_id for o in applied}))}
    row["accuracy"] = " ".join(sorted({str(s.accuracy) for o in applied for s in o.sites}))
    if calls:
        said = [o.reason for o in report.outcomes if o.status.value in ("failed", "refused")]
        return {**row, "verdict": "refused", "why": (" / ".join(dict.fromkeys(said)))[:400]}
    if proofs:
        row["proof"] = str(report.verification.status)
        if report.verification.status is Verdict.MISMATCH:
            return {**row, "verdict": "wrong", "why": report.verification.reason[:200]}
    left = sorted({f.rule for f in report.findings_after if f.blocks})[:3]
    if left:
        return {**row, "verdict": "refused", "why": f"{', '.join(left)} of what replaced it"}
    return {**row, **_compared(proto, feed, expected)}


def _compared(proto: onnx.ModelProto, feed: dict[str, Array], expected: list[Array]) -> Row:
    try:
        got = run_in_onnxruntime(proto, feed)
    except Exception as error:  # onnxruntime's exceptions have no common base
        return {"verdict": "failed", "why": str(error)[:200]}
    for at, (one, other) in enumerate(zip(got, expected, strict=True)):
        said = difference(one, other)
        if said:
            return {"verdict": "wrong", "why": f"output {at}: {said}"}
    return {"verdict": "equal"}
