"""The benchmark of sizes made free: its faults are faults, and its table says what was measured."""

from __future__ import annotations

import numpy as np
import onnx

from benchmarks.freed_sizes import HEAD, NETWORKS, Row, faults, row_of, table, with_fault
from graphfix.testing import outputs_of


def test_a_fault_shows_from_its_size_on() -> None:
    model = onnx.parser.parse_model(HEAD + NETWORKS["element by element"])
    (found,) = [(nodes, stored) for name, nodes, stored in faults() if name == "Greater 6"]
    made = with_fault(model, *found)
    for dim in made.graph.input[0].type.tensor_type.shape.dim[:1]:
        dim.dim_param = "N"
    for size in (1, 6, 7):
        x = np.ones((size, 4), np.float32)
        sign = -1 if size > 6 else 1
        wanted = sign / (1 + np.exp(-1.0))
        assert np.allclose(outputs_of(made, {"x": x})["y"], wanted, rtol=1e-5)
    row = row_of("element by element", "Greater 6", with_fault(model, *found))
    assert (row.shown, row.said) == (False, "Greater 'f_wrong' compares the size with 6")
    assert row_of("element by element", "", model).shown


def test_the_table() -> None:
    rows = [Row("n", "", True, ""), Row("n", "f", False, "why"), Row("n", "g", True, "")]
    text = table(rows)
    assert "1 of 2 faults (50.0%)" in text
    assert "| f | 1 | 1 | why |" in text
