"""The user's .npz: what fits is taken, what does not is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import parser

from graphfix.errors import UsageError
from graphfix.proving.inputs.user import read_inputs

MODEL = parser.parse_model(
    '<ir_version: 8, opset_import: ["" : 17]> '
    "g (float[N, 3] x, int64[2] k) => (float[N, 3] y) { y = Relu(x) }"
)
X = np.ones((4, 3), np.float32)
K = np.zeros(2, np.int64)


def save(tmp_path: Path, **arrays: Any) -> Path:
    path = tmp_path / "inputs.npz"
    np.savez(path, **arrays)
    return path


def test_what_fits_is_taken(tmp_path: Path) -> None:
    feed = read_inputs(save(tmp_path, x=X, k=K), MODEL)
    assert sorted(feed) == ["k", "x"]
    np.testing.assert_array_equal(np.asarray(feed["x"]), X)


@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ({"x": X, "k": K, "q": K}, "no input 'q'"),
        ({"x": X}, "input 'k' of the model is missing"),
        ({"x": X.astype(np.float64), "k": K}, "wants float32, the file has float64"),
        ({"x": np.ones((4, 5), np.float32), "k": K}, "wants shape ?x3, the file has 4x5"),
        ({"x": X, "k": np.zeros((), np.int64)}, "wants shape 2, the file has scalar"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path: Path, arrays: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_inputs(save(tmp_path, **arrays), MODEL)
    assert text in caught.value.message


def test_a_file_that_is_no_npz_and_one_with_objects_are_refused(tmp_path: Path) -> None:
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"PK nothing")
    with pytest.raises(UsageError, match=r"cannot be read as \.npz: it is not a zip archive"):
        read_inputs(broken, MODEL)
    with pytest.raises(UsageError, match="no such file"):
        read_inputs(tmp_path / "absent.npz", MODEL)
    with pytest.raises(UsageError, match=r"cannot be read as \.npz"):
        read_inputs(save(tmp_path, x=np.array([{}], dtype=object), k=K), MODEL)
