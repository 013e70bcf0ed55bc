"""logic-to-comparisons: And, Or and Xor by comparing floats."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "logic-to-comparisons"
OPS = {
    "And": ["Cast", "Cast", "Mul", "Greater"],
    "Or": ["Cast", "Cast", "Add", "Greater"],
    "Xor": ["Cast", "Cast", "Sub", "Abs", "Greater"],
}
FEED = {"x": np.array([[True], [False]]), "z": np.array([[True, False]])}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [7, 13, 17])
@pytest.mark.parametrize("op", sorted(OPS))
def test_all_four_cases(op: str, opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    text = written(
        f"@y = {op} (x, z)", "bool[N,1] x, bool[1,M] z", "bool[N,M]", opset=opset, place=place
    )
    feed: dict[str, Any] = {**FEED, **({"c": np.array(True)} if place == "branch" else {})}
    done = assert_rewrite(PASS, text, feeds=[feed])
    wanted = getattr(np, f"logical_{op.lower()}")(FEED["x"], FEED["z"])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)
    if place == "main":
        assert done.ops == OPS[op]


@pytest.mark.parametrize("op", sorted(OPS))
def test_a_constant_becomes_floats(op: str) -> None:
    body = f"@k = Constant <value = bool[2] {{1, 0}}> ()\n@y = {op} (x, @k)"
    feed = {"x": np.array([[True, True], [False, False]])}
    done = assert_rewrite(PASS, written(body, "bool[2,2] x", "bool[2,2]"), feeds=[feed])
    assert done.ops.count("Cast") == 1
    assert all(t.data_type == 1 for t in done.after.graph.initializer)
