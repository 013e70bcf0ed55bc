"""vector-as-row: a vector is a matrix of one row to what chooses and normalises."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import written

PASS = "vector-as-row"
FEED: dict[str, Any] = {"x": np.array([3, -1, 7, 7, 0], np.float32)}
NORMALISED: dict[str, list[float]] = {
    "Softmax": [0.009069, 0.000166, 0.495157, 0.495157, 0.000452],
    "LogSoftmax": [-4.70288, -8.70288, -0.70288, -0.70288, -7.70288],
    "Hardmax": [0, 0, 1, 0, 0],
}


@pytest.mark.parametrize("size", ["5", "n"])
@pytest.mark.parametrize("opset", [9, 13, 17])
@pytest.mark.parametrize("op", NORMALISED)
def test_a_vector_is_normalised_as_a_row(op: str, opset: int, size: str) -> None:
    text = written(f"@y = {op} <axis = 0> (x)", f"float[{size}] x", "float[m]", opset=opset)
    done = assert_rewrite(PASS, text, feeds=[FEED])
    assert [node.op_type for node in done.after.graph.node if node.op_type == op] == [op]
    np.testing.assert_allclose(outputs_of(done.after, FEED)["y"], NORMALISED[op], atol=1e-5)
