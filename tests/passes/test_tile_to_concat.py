"""tile-to-concat: copies joined along each axis."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "tile-to-concat"
CASES = {"1, 2": ["Concat"], "3, 1": ["Concat"], "2, 3": ["Concat", "Concat"], "1, 1": ["Identity"]}
TYPES: dict[str, Any] = {"float": np.float32, "int64": np.int64, "bool": np.bool_}


def body(repeats: str) -> str:
    return f"@r = Constant <value = int64[2] {{{repeats}}}> ()\n@y = Tile (x, @r)"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", sorted(TYPES))
@pytest.mark.parametrize("repeats", sorted(CASES))
def test_copies(repeats: str, dtype: str, place: str) -> None:
    text = written(body(repeats), f"{dtype}[N,3] x", f"{dtype}[A,B]", opset=13, place=place)
    feed: dict[str, Any] = {"x": np.array([[0, 1, 1], [1, 0, 0]]).astype(TYPES[dtype])}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    wanted = np.tile(feed["x"], [int(count) for count in repeats.split(",")])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)
    if place == "main":
        assert [op for op in done.ops if op != "Constant"] == CASES[repeats]
