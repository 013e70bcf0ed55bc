"""bitcast-to-cast: the bits of integers stay as they are."""

import numpy as np
import pytest

from graphfix.testing import outputs_of, run_pass

PASS = "bitcast-to-cast"
HEAD = '<ir_version: 11, opset_import: ["" : 26]> g '
CODES = {
    "uint8": 2,
    "int8": 3,
    "uint16": 4,
    "int16": 5,
    "int32": 6,
    "int64": 7,
    "uint32": 12,
    "uint64": 13,
}


def _model(one: str, other: str, body: str = "") -> str:
    inner = body or f"{{ y = BitCast <to = {CODES.get(other, 9)}> (x) }}"
    return HEAD + f"({one}[N] x) => ({other}[N] y) {inner}"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(("int8", "uint8"), ("uint8", "int8"), ("uint16", "int16"), ("int32", "uint32")),
        *(("uint32", "int32"), ("int64", "uint64"), ("uint64", "int64")),
    ],
)
def test_bits_are_kept(one: str, other: str) -> None:
    limits = np.iinfo(one)
    x = np.array([limits.min, limits.max, 0, 1, limits.max // 2 + 1], one)
    done = run_pass(PASS, _model(one, other))
    assert done.ops == ["Cast"]
    assert outputs_of(done.after, {"x": x})["y"].tolist() == x.view(other).tolist()


def test_bools_are_bytes() -> None:
    done = run_pass(PASS, _model("bool", "uint8"))
    assert outputs_of(done.after, {"x": np.array([True, False])})["y"].tolist() == [1, 0]
