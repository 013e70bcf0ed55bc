"""opset-raising-for-arange: opset 11 where NonZero counts."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "opset-raising-for-arange"
FILLED = "@v = ConstantOfShape <value = int64[1] {1}> (n)\n@y = NonZero (@v)"


@pytest.mark.parametrize("place", ["main", "branch"])
@pytest.mark.parametrize("opset", [9, 10])
def test_a_filled_vector(opset: int, place: str) -> None:
    text = written(FILLED, "int64[1] n", "int64[1, N]", opset=opset, place=place)
    feeds = [{"n": np.array([size])} for size in (0, 1, 4)]
    for feed in feeds:
        if place == "branch":
            feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=feeds, no_small_sides="the sizes are fed")
    assert [entry.version for entry in done.after.opset_import if not entry.domain] == [11]
