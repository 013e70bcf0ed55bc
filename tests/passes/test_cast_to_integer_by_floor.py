"""cast-to-integer-by-floor: nothing is left over the point before the cast."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "cast-to-integer-by-floor"
NUMBERS = [-2.75, -1.0, -0.5, -0.0, 0.0, 0.25, 1.0, 2.999, 16777216.0, -16777217.0]
TYPES: dict[str, Any] = {"float": np.float32, "double": np.float64, "float16": np.float16}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("to", [6, 7])
@pytest.mark.parametrize("dtype", sorted(TYPES))
def test_truncates(dtype: str, to: int, place: str) -> None:
    result = {6: "int32", 7: "int64"}[to]
    numbers = NUMBERS[:8] if dtype == "float16" else NUMBERS
    text = written(f"@y = Cast <to = {to}> (x)", f"{dtype}[N] x", f"{result}[N]", place=place)
    feed: dict[str, Any] = {"x": np.array(numbers, TYPES[dtype])}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    wanted = np.trunc(feed["x"].astype(np.float64)).astype(np.int64)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)
    if place == "main":
        assert sorted(done.ops) == ["Abs", "Cast", "Floor", "Mul", "Sign"]
