"""bytes-cast-early: uint8 is cast before it is moved."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "bytes-cast-early"
BYTES = np.array([[0, 1, 200], [255, 7, 0]], np.uint8)
# In TensorProto: 1 float, 6 int32, 9 bool.
KINDS = {1: "float", 6: "int32", 9: "bool"}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("to", sorted(KINDS))
def test_through_two_moves(to: int, place: str) -> None:
    text = written(
        "@s = Transpose <perm = [1, 0]> (x)\n@t = Gather <axis = 0> (@s, i)\n"
        f"@y = Cast <to = {to}> (@t)",
        "uint8[2, 3] x, int64[2] i",
        f"{KINDS[to]}[2, 2]",
        place=place,
    )
    feed: dict[str, Any] = {"x": BYTES, "i": np.array([2, 0])}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    if place == "main":
        assert done.ops == ["Cast", "Transpose", "Gather", "Cast"]


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(0, 255), min_size=4, max_size=4), st.integers(0, 4))
def test_any_bytes(values: list[int], end: int) -> None:
    text = written(
        f"@a = Constant <value_ints = [0]> ()\n@b = Constant <value_ints = [{end}]> ()\n"
        "@t = Slice (x, @a, @b)\n@y = Cast <to = 9> (@t)",
        "uint8[4] x",
        "bool[N]",
    )
    assert_rewrite(PASS, text, feeds=[{"x": np.array(values, np.uint8)}])
