"""arithmetic-of-fewer-dimensions: constants are added without dimensions of size 1."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "arithmetic-of-fewer-dimensions"
X = np.random.default_rng(3).standard_normal((4, 3, 2, 2)).astype(np.float32)
SPLIT = "@s = Constant <value = int64[5] {1,4,3,2,2}> ()\n@a = Reshape (x, @s)\n"
MASK = "@m = Constant <value = float[1,4,1,1,2] {1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0}> ()\n"
JOIN = "@l = Constant <value = int64[4] {4,3,2,2}> ()\n@y = Reshape (@b, @l)"


@pytest.mark.parametrize("place", [place for place in PLACES if place != "function"])
@pytest.mark.parametrize(
    "between",
    [
        "@b = Add (@a, @m)",
        "@b = Sub (@m, @a)",
        "@d = Add (@a, @m)\n@b = Mul (@d, @m)",
        "@k = Constant <value = float {2.0}> ()\n@b = Div (@a, @k)",
    ],
)
def test_the_same_numbers(between: str, place: str) -> None:
    body = f"{SPLIT}{MASK}{between}\n{JOIN}"
    text = written(body, "float[4,3,2,2] x", "float[4,3,2,2]", place=place)
    feed: dict[str, Any] = {"x": X, **({"c": np.array(True)} if place == "branch" else {})}
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    if place == "main":
        assert max(len(t.dims) for t in done.after.graph.initializer) <= 4
