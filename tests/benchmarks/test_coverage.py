"""The coverage of operators: cells in the exporter's layout, and the table of their rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.coverage import table
from benchmarks.coverage.cell_results import judged, write
from benchmarks.coverage.listed import ENDLESS, read
from benchmarks.coverage.models import cells
from benchmarks.coverage.traced import Traced


class Tensor:
    """An array that has what is asked of a tensor of PyTorch."""

    def __init__(self, array: Any) -> None:
        """Hold an array."""
        self.array = np.asarray(array)
        self.shape = self.array.shape

    def numpy(self) -> Any:
        """Return the array."""
        return self.array

    def resolve_neg(self) -> Tensor:
        """Return it."""
        return self


X = np.array([[3, 1, 2], [4, 6, 5]], np.float32)


def traced(result: Any, operator: str = "argsort") -> Traced:
    """Return a call of one tensor, an axis and a flag."""
    arguments = (("self", ("tensor", 0)), ("dim", 1), ("descending", False))
    return Traced(operator, "", "float32", arguments, (Tensor(X),), (Tensor(result),))


def test_a_cell_is_one_node_with_its_constants_as_inputs() -> None:
    fixed, free = cells(traced(np.argsort(X, 1)), 1)
    assert (fixed.name, free.name) == (
        "argsort./float32/1/static", "argsort./float32/1/dynamic"
    )  # fmt: skip
    (node,) = fixed.model.graph.node
    assert (node.domain, node.op_type, list(node.input)) == (
        "org.pytorch.aten", "ATen", ["x0", "k0", "k1"]
    )  # fmt: skip
    dims = free.model.graph.input[0].type.tensor_type.shape.dim
    assert [dim.dim_param for dim in dims] == ["N2", "N3"]


@pytest.mark.parametrize(
    ("call", "verdict"),
    [
        (traced(np.argsort(X, 1)), "equal"),
        (traced(np.argsort(-X, 1)), "wrong"),
        (traced(X, "no_such_operator"), "refused"),
    ],
)
def test_a_cell_is_held_to_the_result(call: Traced, verdict: str, tmp_path: Path) -> None:
    assert write(tmp_path, cells(call, 1)) == 2
    row = judged(tmp_path, 0, "trt8.6")
    assert row["verdict"] == verdict
    assert row["by"] == ("" if verdict == "refused" else "aten-argsort")
    assert row.get("proof", "") == ("" if verdict == "refused" else "equal")
    assert "proof" not in judged(tmp_path, 0, "trt8.6", proofs=False)


def test_a_row_with_pytorch_holds_what_it_is_not_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "FILE", tmp_path / "table.md")
    rows = tmp_path / "rows.jsonl"
    cells_of = [
        ("argsort", False, "equal"), ("angle", False, "refused"), ("atan2", False, "refused"),
        ("angle", True, "equal"),
    ]  # fmt: skip
    rows.write_text("".join(
        json.dumps({"cell": f"{name}./float32/1/static", "target": "trt8.6", "pytorch": asked,
                    "by": "", "verdict": verdict}) + "\n"
        for name, asked, verdict in cells_of
    ))  # fmt: skip
    table.written([rows])
    text = (tmp_path / "table.md").read_text()
    assert "| trt8.6 | not installed | 3 | 1 | 0 | 2 | 0 | 0 | 3 | 1 | 1 |" in text
    assert "| trt8.6 | installed | 2 | 2 | 0 | 0 | 0 | 0 | 2 | 2 | 2 |" in text
    assert "for trt8.6, and refused without it: 1 operators (atan2)." in text
    assert "Equal cells that were judged without proofs: 2 of trt8.6." in text


def test_no_operator_of_the_list_is_without_an_answer(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(table, "FILE", tmp_path / "table.md")
    head = {"target": "trt8.6", "pytorch": False, "by": "aten-argsort", "proof": "equal"}
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        '{"cell": "argsort./float32/1/static", "verdict": "equal", '
        + ", ".join(f'"{k}": {str(v).lower() if v is False else chr(34) + str(v) + chr(34)}'
                    for k, v in head.items())
        + "}\n"
    )  # fmt: skip
    assert table.written([rows]) == 0
    text = (tmp_path / "table.md").read_text()
    assert "| trt8.6 | not installed | 1 | 1 | 1 | 0 | 0 | 0 | 1 | 1 | 1 |" in text
    assert "| argsort | `aten-argsort` | 1 of 1 |  |" in text
    listed = read()
    assert len(listed) > 1500
    missing = [n for n in listed if f"| {n} |" not in text and f" {n}," not in text
               and f" {n}." not in text]  # fmt: skip
    assert missing == []
    assert all("iterations" in why for why in ENDLESS.values())
