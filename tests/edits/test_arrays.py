"""Values that an edit is given: numbers, and files of one array."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto

from graphfix import UsageError
from graphfix.edits.arrays import array_of


def test_a_file_of_one_array(tmp_path: Path) -> None:
    np.save(tmp_path / "one.npy", np.arange(3.0))
    found = array_of(f"@{tmp_path / 'one.npy'}", TensorProto.FLOAT, (3,), "--weights w")
    assert found.dtype == np.float32
    assert found.tolist() == [0.0, 1.0, 2.0]


def test_a_file_of_several_arrays_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "several.npz", x=np.ones(3))
    with pytest.raises(UsageError, match=r"several\.npz: holds several arrays, and one is needed"):
        array_of(f"@{tmp_path / 'several.npz'}", TensorProto.FLOAT, (3,), "--weights w")
