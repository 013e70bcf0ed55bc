"""Inputs on which real engines are asked: no network is at one of its steps there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from benchmarks.engines.tried import drawn_for


def _drawn(tmp_path: Path, nodes: str) -> tuple[np.ndarray, np.ndarray]:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> '
        f"g (float[2, 5] x) => (float[2, 5] y) <float zero = {{0}}> {{ {nodes} }}"
    )
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    drawn = drawn_for(path)
    assert drawn is not None
    return drawn[0]["x"], drawn[1]["y"]


@pytest.mark.parametrize(
    "nodes",
    [
        "positive = Greater (x, zero) one = Reciprocal (x) y = Where (positive, one, x)",
        "positive = Greater (x, zero) one = Sign (x) y = Where (positive, x, one)",
    ],
)
def test_no_zero_is_given_to_what_jumps_at_zero(tmp_path: Path, nodes: str) -> None:
    given, computed = _drawn(tmp_path, nodes)
    assert np.count_nonzero(given) == given.size
    assert np.isfinite(computed).all()


def test_zeros_stay_where_nothing_jumps(tmp_path: Path) -> None:
    given, computed = _drawn(tmp_path, "above = Max (x, zero) y = Add (above, x)")
    np.testing.assert_array_equal(computed, np.maximum(given, 0) + given)
