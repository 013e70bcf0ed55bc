"""Values that one process sends to another: what arrives, and what is cut short."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from graphfix.proving.values.files import received_values, send_values

VALUES: dict[str, Any] = {
    "scalar": np.array(3.5, np.float16),
    "empty": np.zeros((0, 3), np.int64),
    "turned": np.arange(12, dtype=np.int32).reshape(3, 4).T,
    "strided": np.arange(24.0)[::2],
    "bools": np.array([True, False]),
    "complex": np.array([1 + 2j, -0.0j], np.complex64),
    "bfloat16": np.array([1.5, np.inf], ml_dtypes.bfloat16),
    "texts": np.array([["x", "é"], ["", "y"]], object),
}


def arrived(path: Path) -> list[Any]:
    """Return what arrives; what the values are is for the assertions to say."""
    return [*received_values(path)]


def test_arrays_arrive_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "values.json"
    send_values(path, [VALUES, {}, {"scalar": VALUES["strided"]}])
    found, none, other = arrived(path)
    assert list(found) == list(VALUES)
    for name, value in VALUES.items():
        assert (found[name].dtype, found[name].shape) == (value.dtype, value.shape)
        assert found[name].tolist() == value.tolist()
        found[name][...] = value  # it may be written to
    assert none == {}
    assert other["scalar"].tolist() == VALUES["strided"].tolist()


def test_sequences_maps_and_nothing_arrive(tmp_path: Path) -> None:
    path = tmp_path / "values.json"
    send_values(path, [{"list": [VALUES["bools"], None], "map": {1: 2.0, 3: 4.0}, "none": None}])
    (found,) = arrived(path)
    first, second = found["list"]
    assert (first.tolist(), second) == ([True, False], None)
    assert (found["map"], found["none"]) == ({1: 2.0, 3: 4.0}, None)


def test_what_was_not_written_to_its_end_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "values.json"
    send_values(path, [VALUES])
    raw = path.with_suffix(".raw")
    raw.write_bytes(raw.read_bytes()[:-1])
    with pytest.raises(EOFError, match="less is written than said"):
        received_values(path)
