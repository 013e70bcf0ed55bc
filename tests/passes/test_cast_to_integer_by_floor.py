"""cast-to-integer-by-floor: nothing is left behind the point before the cast."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of
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


def test_refusals() -> None:
    assert_refused(
        PASS,
        written("@y = Cast <to = 1> (x)", "int64[2] x", "float[2]"),
        "x must be floats; it is int64",
    )
    assert_refused(
        PASS,
        written("@y = Cast <to = 2> (x)", "float[2] x", "uint8[2]"),
        "the result must be int32 or int64",
    )
    assert_refused(
        PASS,
        written("@f = Floor (x)\n@y = Cast <to = 7> (@f)", "float[2] x", "int64[2]"),
        "must have digits behind the point; it is whole",
    )


def test_leaves_others_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
